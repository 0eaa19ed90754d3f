"""The benchmark of Ni et al."""
