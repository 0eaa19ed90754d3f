"""The commands of training: a module per command."""
