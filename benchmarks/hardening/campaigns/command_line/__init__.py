"""Bad files given to commands."""
