"""Rewards made of running times that a user's own code measures."""
