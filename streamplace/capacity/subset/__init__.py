"""Subsets of a cluster's devices that carry a source rate, and the cheapest of them."""
