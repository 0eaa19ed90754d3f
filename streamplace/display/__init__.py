"""What values look like in terminals and notebooks."""
