"""Views of result types, and their renderers."""
