"""Slurm: the nodes of a cluster."""
