"""Partitioners as placers: parts of the graph, and the devices that they go to."""
