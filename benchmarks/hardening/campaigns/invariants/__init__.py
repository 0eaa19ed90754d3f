"""Conservation of tuples, bounds, and changes that must not affect a score."""
