"""Steady-state throughput in closed form, and its bounds."""
