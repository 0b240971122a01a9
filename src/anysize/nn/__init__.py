"""Representations of graphs that do not change with size, and those of whole graphs to compare with."""
