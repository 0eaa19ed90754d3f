"""Engines' documents in."""
