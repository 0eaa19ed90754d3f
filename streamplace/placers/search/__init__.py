"""Local search and what is built on it."""
