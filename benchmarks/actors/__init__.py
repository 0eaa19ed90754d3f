"""Placements of Ray actors beside those of Ray itself."""
