"""Message passing on rows that many vertices share: structures, color refinement, recolored pairs, batches."""
