"""Commands that read bad files."""
