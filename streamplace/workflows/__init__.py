"""The work of each command of the core."""
