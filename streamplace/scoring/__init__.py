"""Evaluators and scores of placements."""
