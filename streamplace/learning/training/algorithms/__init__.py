"""The training algorithms of stages."""
