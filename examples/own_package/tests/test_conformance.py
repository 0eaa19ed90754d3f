"""The conformance checks of streamplace, applied to the policy of this package."""

import pytest

from streamplace.testing import CHECKS, PolicyCase


@pytest.mark.parametrize("name", CHECKS)
def test_conformance(name: str) -> None:
    """Run one check."""
    CHECKS[name](PolicyCase("load-aware", {"hidden": 8}, repaired=True))
