"""Conservation, bounds, and changes that leave a score as it is."""
