"""Learned placers: what they read, their networks, their weights."""
