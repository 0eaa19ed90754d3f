"""Views of values, and their renderers for terminals and notebooks."""
