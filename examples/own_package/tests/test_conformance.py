"""The conformance checks of streamplace, applied to what this package registers."""

import pytest

from streamplace.testing import (
    CHECKS,
    PolicyCase,
    check_family,
    check_objective,
    check_placer,
)


@pytest.mark.parametrize("name", CHECKS)
def test_policy(name: str) -> None:
    """Run one check of the policy."""
    CHECKS[name](PolicyCase("load-aware", {"hidden": 8}, repaired=True))


def test_placer() -> None:
    """Check the placer."""
    check_placer("best-device:evaluations=30")


def test_family() -> None:
    """Check the graph family."""
    check_family("funnel")


def test_objective() -> None:
    """Check the objective."""
    check_objective("net:price=500")
