"""Locks, licences, tests with other dependency versions, and releases."""
