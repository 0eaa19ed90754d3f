"""Rows on locks, licences, builds and versions."""
