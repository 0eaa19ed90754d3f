"""Pictures of results, whose modules load matplotlib."""

__all__ = ["comparison", "curves", "engine_run", "plan", "style"]
