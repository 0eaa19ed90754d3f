"""One pass of a graph on the testbed: its makespan, measured and simulated."""
