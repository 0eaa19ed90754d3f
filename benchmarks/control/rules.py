"""The rules that are compared."""

from collections.abc import Callable
from typing import NamedTuple

from benchmarks.control.cases import TARGET, Case
from benchmarks.control.simulated.autoscaler import Autoscaler
from benchmarks.control.simulated.clairvoyant import Clairvoyant
from benchmarks.control.simulated.planner import SimplePlanner
from benchmarks.control.simulated.rules import Controlled, Ds2, Never, Rule
from streamplace.control.controller import Controller
from streamplace.control.load import PARTS
from streamplace.control.planning import SizePlanner
from streamplace.control.settings import ControllerSettings

SETTINGS = ControllerSettings()
EVALUATIONS = 100  # of each size
Make = Callable[[Case, tuple[float, float]], Rule]
LOOP_S = 60.0  # of the autoscaler
NOTHING = "never"  # the rule that changes nothing


class Entry(NamedTuple):
    """A rule in the comparison: its maker, and its windows; see `compare`."""

    make: Make
    window_s: float = SETTINGS.window_s
    parts: int = 1


def entries() -> dict[str, Entry]:
    """Return the rules; each is made for a case and a range of downtimes in seconds."""
    return {
        "ours": Entry(_ours, parts=PARTS),
        "ours, simple plans": Entry(_with_simple_plans, parts=PARTS),
        "autoscaler": Entry(lambda case, _: Autoscaler(case.job), LOOP_S),
        "ds2": Entry(lambda case, _: Ds2(case.job, TARGET)),
        NOTHING: Entry(lambda _, __: Never()),
        "clairvoyant": Entry(_clairvoyant),
    }


def _ours(case: Case, _: tuple[float, float]) -> Rule:
    planner = SizePlanner(case.job.graph, case.job.cluster, SETTINGS, evaluations=EVALUATIONS)
    return Controlled(Controller(SETTINGS, planner))


def _with_simple_plans(case: Case, _: tuple[float, float]) -> Rule:
    planner = SimplePlanner(case.job, TARGET, SETTINGS.most_scale_down, SETTINGS.machine_price)
    return Controlled(Controller(SETTINGS, planner))


def _clairvoyant(case: Case, gap_s: tuple[float, float]) -> Rule:
    return Clairvoyant(
        case.job,
        case.trace,
        case.first.deployment,
        SETTINGS.window_s,
        sum(gap_s) / 2,
        SETTINGS.machine_price,
        SETTINGS.delayed_tuple_price,
    )
