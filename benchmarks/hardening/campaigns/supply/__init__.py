"""Checks of locks, licences, builds and dependency versions."""
