"""Bad files read by library functions."""
