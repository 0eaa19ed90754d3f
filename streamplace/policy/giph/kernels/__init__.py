"""Compiled kernels of GiPH."""
