"""Placement of several jobs together."""
