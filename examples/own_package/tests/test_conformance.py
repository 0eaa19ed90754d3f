"""The policy passes every check that policies of streamplace itself pass."""

import pytest

from streamplace.testing import CHECKS, PolicyCase


@pytest.mark.parametrize("name", CHECKS)
def test_conformance(name: str) -> None:
    """One check of the kit."""
    CHECKS[name](PolicyCase("load-aware", {"hidden": 8}, repaired=True))
