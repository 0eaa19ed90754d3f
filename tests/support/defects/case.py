"""Conformance cases of policy classes that no package registers."""

import pytest

from streamplace.learning.policy.config import DeviceScorerSizes
from streamplace.learning.policy.device_scorer.network import DeviceScorer
from streamplace.learning.policy.registry import KINDS, PolicyKind
from streamplace.testing import PolicyCase


def case_of(policy: type[DeviceScorer], monkeypatch: pytest.MonkeyPatch) -> PolicyCase:
    """Register a policy class as kind 'tested', and return a case of it."""
    kind = PolicyKind(DeviceScorerSizes, f"{policy.__module__}:{policy.__name__}")
    monkeypatch.setitem(KINDS, "tested", kind)
    return PolicyCase("tested", {"hidden": 12, "hops": 1})
