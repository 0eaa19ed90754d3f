"""What graphs, placements, scores and tables look like: one content, for terminals and notebooks."""
