"""Conversions of units."""

BYTES_PER_MBIT = 125_000.0
