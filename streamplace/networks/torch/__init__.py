"""PyTorch: modules as graphs, and their operators measured."""
