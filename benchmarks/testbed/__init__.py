"""A small real cluster on one Linux machine, to check the simulator against."""
