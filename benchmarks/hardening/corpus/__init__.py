"""Good inputs, and inputs that are bad from the start."""
