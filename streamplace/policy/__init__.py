"""Learned placers: encodings, networks, weights."""
