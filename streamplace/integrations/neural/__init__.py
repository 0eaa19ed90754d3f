"""Readers of computation graphs of neural networks."""
