"""Traversal orders: an experiment on the order in which Placeto visits operators."""
