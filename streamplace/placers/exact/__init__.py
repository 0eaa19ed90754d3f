"""Placers that prove how good their placement is."""
