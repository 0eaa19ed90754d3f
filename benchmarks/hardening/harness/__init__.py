"""Child processes with limits, and the rows that they are counted in."""
