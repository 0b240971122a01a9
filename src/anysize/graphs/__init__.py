"""Sets of graphs in flat arrays, with vertex colors and labels."""
