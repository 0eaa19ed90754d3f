"""What graphs, placements, scores and tables look like: in terminals and notebooks."""
