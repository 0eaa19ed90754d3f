"""Learned placers: policies, their training, and adapters for other libraries."""

__all__ = ["policy", "training"]
