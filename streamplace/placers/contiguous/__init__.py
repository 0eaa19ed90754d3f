"""Contiguous splits: every device gets consecutive parts of the graph."""
