"""The conformance checks, applied to the built-in policies."""

from dataclasses import replace
from typing import Any

import pytest

from streamplace.testing import PolicyCase, check_policy, checks_of

SCORER: dict[str, Any] = {"hidden": 12, "hops": 1}
PUBLISHED: dict[str, Any] = {"length": 12, "device_length": 4, "devices": 3}
NI2020 = PolicyCase("encoder-decoder", PUBLISHED, ordered_devices=True, repaired=True)
PLACETO = PolicyCase("placeto", {"devices": 3}, ordered_devices=True)
RNN = PolicyCase("rnn", {"hidden": 8, "devices": 3, "operators": 16}, ordered_devices=True)
SMALL_HSDAG: dict[str, Any] = {
    "hidden": 8,
    "devices": 3,
    "degrees": 3,
    "encoding": 4,
    "min_groups": 2,
    "steps": 3,
}
HSDAG = PolicyCase("hsdag", SMALL_HSDAG, ordered_devices=True)
HSDAG_STREAM: dict[str, Any] = {
    "features": ["degree", "position", "cost", "stream"],
    "edge_traffic": True,
    "capacity": True,
    "acyclic": True,
}
DOPPLER = PolicyCase("doppler", {"length": 6, "rounds": 2, "hidden": 8})
BUILT_IN = {
    "device-scorer": PolicyCase("device-scorer", SCORER),
    "device-scorer, two orders": PolicyCase("device-scorer", SCORER | {"orders": [0, 1]}),
    "b": replace(NI2020, sizes=PUBLISHED | {"encoder": "sequence", "upstream": False}),
    "b+f1": replace(NI2020, sizes=PUBLISHED | {"upstream": False}),
    "b+f1&f2": NI2020,
    "released": replace(
        NI2020, kind="encoder-decoder-released", sizes={"length": 12, "devices": 3}
    ),
    "placeto": PLACETO,
    "placeto, makespan": replace(PLACETO, objective="makespan"),
    "placeto, rounds": replace(PLACETO, sizes={"devices": 3, "rounds": 2, "closest": 3}),
    "giph": PolicyCase("giph"),
    "giph, makespan": PolicyCase("giph", objective="makespan"),
    "giph, further features": PolicyCase(
        "giph", {"criticality": 0.1, "finish": True, "reciprocals": True}, objective="makespan"
    ),
    "giph-3": PolicyCase("giph", {"variant": "giph-k", "rounds": 3}, objective="makespan"),
    "giph-ne": PolicyCase("giph", {"variant": "giph-ne"}, objective="makespan"),
    "giph-ne-pol": PolicyCase("giph", {"variant": "giph-ne-pol"}, objective="makespan"),
    "graphsage-ne": PolicyCase("giph", {"variant": "graphsage-ne"}, objective="makespan"),
    "giph-task-eft": PolicyCase("giph", {"variant": "task-eft"}, objective="makespan"),
    "giph-task-eft, throughput": PolicyCase("giph", {"variant": "task-eft"}),
    "giph, without potential": PolicyCase("giph", {"potential": False}, objective="makespan"),
    "rebuild": PolicyCase("rebuild", {"hidden": 4}, objective="makespan"),
    "doppler": DOPPLER,
    "doppler, makespan": replace(DOPPLER, objective="makespan"),
    "doppler, operators only": replace(
        DOPPLER, sizes=DOPPLER.sizes | {"variant": "sel-only"}, objective="makespan"
    ),
    "doppler, devices only": replace(
        DOPPLER, sizes=DOPPLER.sizes | {"variant": "plc-only"}, objective="makespan"
    ),
    "doppler, messages at every step": replace(
        DOPPLER, sizes=DOPPLER.sizes | {"per_step": True}, objective="makespan"
    ),
    "hsdag": HSDAG,
    "hsdag, makespan": replace(HSDAG, objective="makespan"),
    "hsdag, two levels": replace(
        HSDAG, sizes=SMALL_HSDAG | {"levels": 2, "chains": False}, objective="makespan"
    ),
    "hsdag, pooling by sums": replace(HSDAG, sizes=SMALL_HSDAG | {"pooling": "sum"}),
    "hsdag, capacity": replace(HSDAG, sizes=SMALL_HSDAG | HSDAG_STREAM),
    "rnn": RNN,
    "rnn, backward": replace(RNN, sizes=RNN.sizes | {"order": "dfs-postorder", "labels": []}),
    "rnn, frozen attention": replace(RNN, sizes=RNN.sizes | {"frozen_attention": True}),
    "b+f1&f2, one name": replace(NI2020, sizes=PUBLISHED | {"breaks_symmetry": True}),
}
SHORT = ("device-scorer", "device-scorer, two orders", "b", "b+f1&f2", "placeto, makespan")
CASES = [
    pytest.param(name, check, marks=() if name in SHORT else pytest.mark.long)
    for name, case in BUILT_IN.items()
    for check in checks_of(case)
]


@pytest.mark.parametrize(("name", "check"), CASES)
def test_built_in_policies_pass(name: str, check: str) -> None:
    checks_of(BUILT_IN[name])[check](BUILT_IN[name])


@pytest.mark.long
def test_all_checks_in_one_call() -> None:
    check_policy(BUILT_IN["device-scorer"])
