"""Learned placers: problem encodings, networks and weights."""
