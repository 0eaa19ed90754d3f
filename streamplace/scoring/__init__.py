"""Evaluators and scores: what placements are worth."""
