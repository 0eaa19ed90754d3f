"""What placements are worth: evaluators, scores, compiled arrays."""
