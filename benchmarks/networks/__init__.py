"""Graphs of real neural networks: made from other packages, and placed by plain placers."""
