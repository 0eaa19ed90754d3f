"""The commands that convert between formats: a module per command."""
