"""The former place of `tests.support.graphs`, for tests/hardening."""

from tests.support.graphs import chain_graph as pipeline

__all__ = ["pipeline"]
