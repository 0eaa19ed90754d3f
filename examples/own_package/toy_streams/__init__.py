"""Parts of streamplace that a package of its own adds."""
