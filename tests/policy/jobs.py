"""The former place of `tests.support.policies`, for tests/hardening."""

from tests.support.policies import SCRIPTING

__all__ = ["SCRIPTING"]
