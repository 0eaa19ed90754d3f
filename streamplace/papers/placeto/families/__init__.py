"""Training steps of neural networks as graphs of groups of operations."""
