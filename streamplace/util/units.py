"""Conversions between the units of our files and those of others."""

BYTES_PER_MBIT = 125_000.0
