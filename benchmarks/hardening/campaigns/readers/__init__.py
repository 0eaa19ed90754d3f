"""Bad files read in process."""
