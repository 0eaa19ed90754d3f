"""Placement algorithms, their protocol and registry."""
