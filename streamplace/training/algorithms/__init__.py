"""Training algorithms, which compute a loss from sampled placements."""
