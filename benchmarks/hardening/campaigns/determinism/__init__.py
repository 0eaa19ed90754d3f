"""Identical results of fresh processes."""
