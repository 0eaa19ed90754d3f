"""The former place of `tests.support.cli`, for tests/hardening."""

from tests.support.cli import run

__all__ = ["run"]
