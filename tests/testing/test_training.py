"""Tests of the check of gradients where large parameters saturate choices."""

from typing import Any

import pytest
from torch import Tensor

from streamplace.learning.policy.base import AnyPolicy
from streamplace.testing import PolicyCase
from streamplace.testing.training import check_gradients

HSDAG: dict[str, Any] = {
    "hidden": 8,
    "devices": 3,
    "levels": 3,
    "steps": 2,
    "capacity": True,
    "chains": False,
}
CASES = {
    "placeto": PolicyCase("placeto", {"devices": 5}, devices=5, ordered_devices=True),
    "hsdag": PolicyCase("hsdag", HSDAG, objective="makespan"),
}


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_vanishing_gradients_are_checked_with_smaller_parameters(name: str) -> None:
    check_gradients(CASES[name])


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_halved_gradients_are_found_with_smaller_parameters(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = PolicyCase.policy

    def policy(case: PolicyCase) -> AnyPolicy:
        defective = made(case)
        for parameter in defective.parameters():
            parameter.register_hook(_halved)  # type: ignore[no-untyped-call]
        return defective

    monkeypatch.setattr(PolicyCase, "policy", policy)
    with pytest.raises(AssertionError, match=f"^{name}: gradients: .*finite differences"):
        check_gradients(CASES[name])


def _halved(gradient: Tensor) -> Tensor:
    return 0.5 * gradient
