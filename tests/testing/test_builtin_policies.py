"""The conformance checks, applied to the built-in policies."""

from dataclasses import replace
from typing import Any

import pytest

from streamplace.testing import CHECKS, PolicyCase, check_policy
from tests.support.policies import SCRIPTING

pytestmark = pytest.mark.filterwarnings(SCRIPTING)

SCORER: dict[str, Any] = {"hidden": 12, "hops": 1}
PUBLISHED: dict[str, Any] = {"length": 12, "device_length": 4, "devices": 3}
NI2020 = PolicyCase("encoder-decoder", PUBLISHED, ordered_devices=True, repaired=True)
BUILT_IN = {
    "device-scorer": PolicyCase("device-scorer", SCORER),
    "device-scorer, two orders": PolicyCase("device-scorer", SCORER | {"orders": [0, 1]}),
    "b": replace(NI2020, sizes=PUBLISHED | {"encoder": "sequence", "upstream": False}),
    "b+f1": replace(NI2020, sizes=PUBLISHED | {"upstream": False}),
    "b+f1&f2": NI2020,
    "b+f1&f2, one name": replace(NI2020, sizes=PUBLISHED | {"breaks_symmetry": True}),
}
SHORT = ("device-scorer",)
NAMES = [pytest.param(n, marks=() if n in SHORT else pytest.mark.long) for n in BUILT_IN]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", NAMES)
def test_built_in_policies_pass(name: str, check: str) -> None:
    CHECKS[check](BUILT_IN[name])


@pytest.mark.long
def test_all_checks_in_one_call() -> None:
    check_policy(BUILT_IN["device-scorer"])
