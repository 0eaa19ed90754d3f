"""The placers that `auto` is compared with, at equal evaluations or at equal CPU time."""

from dataclasses import dataclass
from math import inf
from typing import Protocol

import numpy as np

import streamplace as sp
from benchmarks.makespans.tally import AGAIN, SAME
from streamplace.errors import PlacementError
from streamplace.makespan.evaluator import MakespanEvaluator
from streamplace.placers.registry import make_placer
from streamplace.sim import work_clock

LIMITED = ("search", "climb")
"""The placers that take a time limit."""
RANDOMISED = {"random": "evaluations", "critical-path": "samples", "random-eft": "samples"}
"""The placers that draw placements, with the option that says how many."""
DRAWN = 20  # placements that such a placer draws in one run
ONCE = (
    "single",
    "round-robin",
    "heft",
    "heft:contention=true",
    "peft",
    "peft:links",
    "cpop",
    "m-etf",
    "m-topo",
    "enumerative",
    "metis",
    "metis-recursive",
    "fuser",
    "metis-oracle",
    "metis-recursive-oracle",
    "metis-sweep",
    "fuser-oracle",
)
"""The placers that return the same placement with all random numbers."""
QUICK = "single", "heft", "heft:contention=true", "peft", "peft:links", "cpop", "metis"
"""Those of them that take no longer than a second on 3,000 operators and 64 devices."""
RIVALS = (*LIMITED, *RANDOMISED, *ONCE)
RIVALS_OF_SIZED = ("climb", "critical-path", "random-eft", *QUICK, "metis-recursive")
"""The rivals on large problems; `search` under makespans is `auto`."""


@dataclass(frozen=True)
class Result:
    """The shortest makespan that a placer found, None if no placement, and the time it took."""

    makespan_s: float | None
    seconds: float


class Terms(Protocol):
    """What makes a comparison of placers fair."""

    def compared(self, problem: sp.Problem) -> dict[str, Result]:
        """Return the results of `auto` and its rivals by name."""
        ...


@dataclass(frozen=True)
class EqualEvaluations:
    """Every search gets the same number of evaluations, so that results depend on no machine.

    List schedulers try each operator on every device, so a sample counts as one evaluation for each
    device. `random` takes far longer for each placement, and draws as few as in a run by time.
    """

    evaluations: int

    def compared(self, problem: sp.Problem) -> dict[str, Result]:
        """Return the results of `auto` and its rivals by name."""
        samples = max(1, self.evaluations // len(problem.cluster.devices))
        counts = dict.fromkeys(("auto", *LIMITED), f"evaluations={self.evaluations}")
        counts |= {name: f"{option}={samples}" for name, option in RANDOMISED.items()}
        counts["random"] = f"{RANDOMISED['random']}={DRAWN}"
        texts = {name: f"{name}:{count}" for name, count in counts.items()}
        return {name: _run(problem, texts.get(name, name)) for name in ("auto", *RIVALS)}


@dataclass(frozen=True)
class EqualTime:
    """Every placer gets the same CPU time, and computes the tables of the problem anew.

    Placers that depend on random numbers are run again and again, and their best placement counts.
    The others are run once, however long it takes. `SAME` is run `AGAIN` where it is a rival.
    """

    seconds: float
    rivals: tuple[str, ...] = RIVALS

    def compared(self, problem: sp.Problem) -> dict[str, Result]:
        """Return the results of `auto`, its rivals, and `AGAIN` by name."""
        with work_clock.cpu_time():
            found = {name: self._result(problem, name) for name in ("auto", *self.rivals)}
            if SAME in self.rivals:
                found[AGAIN] = self._limited(problem, SAME)
        return found

    def _result(self, problem: sp.Problem, name: str) -> Result:
        if name in RANDOMISED:
            return _repeated(problem, f"{name}:{RANDOMISED[name]}={DRAWN}", self.seconds)
        return self._limited(problem, name) if name in ("auto", *LIMITED) else _run(problem, name)

    def _limited(self, problem: sp.Problem, name: str) -> Result:
        return _run(problem, f"{name}:seconds={self.seconds!r}")


def _run(problem: sp.Problem, text: str) -> Result:
    return _repeated(problem, text, 0.0)


def _repeated(problem: sp.Problem, text: str, seconds: float) -> Result:
    """Run a placer once, and again until its time is spent."""
    placer, judge = make_placer(text), MakespanEvaluator(problem)
    problem.forget()
    best, used, rng = inf, 0.0, np.random.default_rng(0)
    while True:
        begun = work_clock.now()
        try:
            devices = placer(problem, rng).devices
        except PlacementError:
            return Result(None, work_clock.now() - begun)
        used += work_clock.now() - begun
        best = min(best, float(judge.makespans(devices)[0]))
        if used >= seconds:
            return Result(best, used)
