"""Parallel application of a function to many items, on local processes, Ray or Dask."""
