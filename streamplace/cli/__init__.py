"""The command line: each command parses its arguments, calls one workflow and prints."""
