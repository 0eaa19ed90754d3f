"""A small real cluster on one Linux machine, for checking the simulator."""
