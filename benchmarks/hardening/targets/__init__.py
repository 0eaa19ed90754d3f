"""The readers and commands that the campaign tests."""
