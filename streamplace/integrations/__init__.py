"""Stream-processing systems: their documents in, placements out."""
