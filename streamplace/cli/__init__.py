"""The commands: parse, call one workflow, print."""
