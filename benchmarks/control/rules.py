"""The rules that are compared, and their makers."""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from benchmarks.control.cases import TARGET, Case
from streamplace.control.rules import Rules
from streamplace.control.simulated.planner import SimplePlanner
from streamplace.control.simulated.rules.autoscaler import Autoscaler
from streamplace.control.simulated.rules.base import Controlled, Never, Rule
from streamplace.control.simulated.rules.clairvoyant import Clairvoyant
from streamplace.control.simulated.rules.ds2 import Ds2

RULES = Rules()
CONTROLLER = "streamplace.control.controller"  # left out of the comparison where it is missing
Maker = Callable[[Case, tuple[float, float]], Rule]


def makers() -> dict[str, Maker]:
    """Return functions that make each rule for a case and a range of downtimes in seconds."""
    found: dict[str, Maker] = {}
    if find_spec(CONTROLLER) is not None:
        found["ours"] = partial(_ours, import_module(CONTROLLER))
    others: dict[str, Maker] = {
        "autoscaler": lambda case, _: Autoscaler(case.job),
        "ds2": lambda case, _: Ds2(case.job, TARGET),
        "never": lambda _, __: Never(),
        "clairvoyant": _clairvoyant,
    }
    return found | others


def _ours(module: Any, case: Case, _: tuple[float, float]) -> Rule:
    planner = SimplePlanner(case.job, TARGET, RULES.most_scale_down, RULES.machine_price)
    return Controlled(module.Controller(RULES, planner))


def _clairvoyant(case: Case, gap_s: tuple[float, float]) -> Rule:
    return Clairvoyant(
        case.job,
        case.trace,
        case.first.deployment,
        RULES.window_s,
        sum(gap_s) / 2,
        RULES.machine_price,
        RULES.delayed_tuple_price,
    )
