"""Helpers of the code itself: array types, argument checks, name suggestions, safe text."""
