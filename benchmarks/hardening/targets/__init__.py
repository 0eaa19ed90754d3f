"""The readers and commands that are given inputs."""
