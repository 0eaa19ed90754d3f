"""Rules that are compared with the controller."""
