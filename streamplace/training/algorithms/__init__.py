"""Algorithms that turn samples into a loss."""
