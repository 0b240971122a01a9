"""Counts of connected induced subgraphs, exact or sampled."""
