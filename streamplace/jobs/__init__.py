"""Several jobs on one cluster."""

__all__ = ["files", "jobs", "place", "size"]
