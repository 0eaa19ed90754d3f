"""Cases of policies that cannot be checked."""

import pytest

from streamplace.errors import UsageError
from streamplace.testing import CHECKS, PolicyCase


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown policy 'device-scorr'"):
        PolicyCase("device-scorr").policy()


def test_a_policy_that_cannot_place_the_problems_is_reported() -> None:
    sizes = {"length": 12, "device_length": 4, "devices": 4}
    case = PolicyCase("encoder-decoder", sizes, ordered_devices=True)
    with pytest.raises(UsageError, match="requires 4 devices"):
        CHECKS["samples"](case)


def test_fewer_than_two_devices_are_refused() -> None:
    with pytest.raises(UsageError, match=r"devices must be at least 2 \(got 1\)"):
        PolicyCase("device-scorer", devices=1)
