"""Memory of large inputs, and workers that are killed."""
