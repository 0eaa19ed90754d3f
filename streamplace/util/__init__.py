"""Array types, argument checks, suggestions, safe text, plugins."""
