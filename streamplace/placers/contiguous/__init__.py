"""Contiguous splits as a placer, for pipelines such as the layers of a neural network."""
