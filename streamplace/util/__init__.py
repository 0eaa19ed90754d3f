"""Helpers of the code itself: array types, checks, suggestions, safe text."""
