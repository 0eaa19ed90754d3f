"""Locks, licences, tested versions, and releases."""
