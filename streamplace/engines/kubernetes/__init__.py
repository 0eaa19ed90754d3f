"""Kubernetes: Deployments that run operators where they are placed."""
