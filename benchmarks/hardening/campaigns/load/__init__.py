"""Memory use with large inputs, and comparisons whose workers are killed."""
