"""A policy and a graph family for streamplace."""
