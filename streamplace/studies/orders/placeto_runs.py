"""Placeto trained on one problem, many runs at once."""
