"""Local search and the placers built on it."""
