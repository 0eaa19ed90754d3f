"""Tests that every check finds the defects it is meant to find."""

import pytest

from streamplace.learning.policy.device_scorer.network import DeviceScorer
from streamplace.testing import CHECKS
from tests.support.defects import DEFECTS
from tests.support.defects.case import case_of


def test_every_check_has_a_defect() -> None:
    assert {check for _, check, _ in DEFECTS} == set(CHECKS)


CASES = [
    pytest.param(policy, check, fault, marks=pytest.mark.long if check == "gradients" else ())
    for policy, check, fault in DEFECTS
]


@pytest.mark.parametrize(
    ("policy", "check", "fault"), CASES, ids=lambda x: getattr(x, "__name__", None)
)
def test_defects_are_found(
    policy: type[DeviceScorer], check: str, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(AssertionError, match=f"^tested: {check}: .*{fault}"):
        CHECKS[check](case_of(policy, monkeypatch))
