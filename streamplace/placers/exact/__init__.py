"""The exact placer, which proves that its placement is optimal."""
