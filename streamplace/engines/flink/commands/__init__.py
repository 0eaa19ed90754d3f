"""The commands that measure, change and watch jobs of Flink: a module per command."""
