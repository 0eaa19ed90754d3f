"""Valid input files to mutate, and hand-made invalid ones."""
