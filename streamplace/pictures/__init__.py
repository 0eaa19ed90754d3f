"""Pictures of results, whose modules load matplotlib."""
