"""Child processes with limits, and the rows of results that the campaign saves."""
