"""Fixtures for tests of the conformance checks."""

from collections.abc import Callable

import pytest

from streamplace.policy.config import DeviceScorerSizes
from streamplace.policy.device_scorer.network import DeviceScorer
from streamplace.policy.registry import KINDS, PolicyKind
from streamplace.testing import PolicyCase

CaseOf = Callable[[type[DeviceScorer]], PolicyCase]


@pytest.fixture
def case_of(monkeypatch: pytest.MonkeyPatch) -> CaseOf:
    """Return a function that registers a policy class as kind 'tested' and returns its case."""

    def register(policy: type[DeviceScorer]) -> PolicyCase:
        kind = PolicyKind(DeviceScorerSizes, f"{policy.__module__}:{policy.__name__}")
        monkeypatch.setitem(KINDS, "tested", kind)
        return PolicyCase("tested", {"hidden": 12, "hops": 1})

    return register
