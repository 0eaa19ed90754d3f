"""Families of training steps of neural networks, merged to a number of operators."""
