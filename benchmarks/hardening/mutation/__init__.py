"""Faults that turn good inputs into bad ones."""
