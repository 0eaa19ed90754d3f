"""Pipelines of actors on a Ray cluster."""
