"""Compiled kernels of Placeto: the network's forward and backward pass, and whole sweeps."""
