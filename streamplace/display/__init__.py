"""Views of result types, and their renderers for terminals and notebooks."""
