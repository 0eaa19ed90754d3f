"""The numerical core: arrays in, arrays out; it knows nothing of graphs, files or names."""
