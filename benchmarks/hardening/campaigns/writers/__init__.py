"""Commands that are stopped while they write files."""
