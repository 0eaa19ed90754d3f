"""One function over many items: processes, Ray, Dask, and their progress."""
