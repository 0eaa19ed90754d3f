"""One function over many items, by processes, Ray or Dask."""
