"""Mutations that turn valid inputs into bad ones."""
