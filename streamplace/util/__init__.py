"""Array types, argument checks, suggestions, safe text and plugins."""
