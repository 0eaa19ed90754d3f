"""Placements that are built operator by operator, in any order, and what each device offers."""
