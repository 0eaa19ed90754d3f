"""Closed forms of steady-state throughput, and bounds."""
