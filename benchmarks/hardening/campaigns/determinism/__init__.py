"""The same results from fresh processes."""
