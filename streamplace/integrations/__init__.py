"""Stream engines: their documents in, placements out. One module an engine."""
