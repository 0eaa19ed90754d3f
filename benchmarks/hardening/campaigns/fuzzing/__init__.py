"""Coverage-guided fuzzing of every reader."""
