"""The commands `plan` and `size`."""
