"""Neural networks and recorded workflows as graphs of one pass."""

__all__: list[str] = []
