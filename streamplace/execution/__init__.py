"""One function over many items: processes, Ray, Dask, progress."""
