"""How values show themselves: views, and renderers for terminals and notebooks."""
