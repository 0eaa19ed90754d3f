"""The family of graphs of the experiment on traversal orders."""
