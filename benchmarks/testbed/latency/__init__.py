"""Latency of single tuples on the testbed's devices, simulated and measured."""
