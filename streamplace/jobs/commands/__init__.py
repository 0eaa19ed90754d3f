"""The command `place --job-file`, and its notes."""
