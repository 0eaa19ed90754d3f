"""Several jobs on one cluster: their placement, and their sizes."""
