"""Stream engines and schedulers: their documents, placements, profiles and commands."""

__all__: list[str] = []
