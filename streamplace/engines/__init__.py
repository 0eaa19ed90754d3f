"""Stream engines and schedulers: their documents, placements, profiles and commands."""
