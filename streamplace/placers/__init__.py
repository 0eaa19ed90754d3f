"""Placers: the protocol, the registry, and the algorithms."""
