"""The placers that `auto` is compared with, at equal evaluations or at equal CPU time."""

from dataclasses import dataclass
from math import inf
from typing import Protocol

import numpy as np

import streamplace as sp
from sim import work_clock
from streamplace.errors import PlacementError
from streamplace.placers.registry import make_placer
from streamplace.scoring.makespan_evaluator import MakespanEvaluator

LIMITED = ("search", "climb")
"""The placers that take a time limit."""
RANDOMISED = {"random": 20, "critical-path": 20, "random-eft": 20}
"""The placers whose results depend on the random numbers, with placements that a run draws."""
SAMPLES = {"random": "evaluations", "critical-path": "samples", "random-eft": "samples"}
ONCE = (
    "single",
    "round-robin",
    "heft",
    "heft:contention=true",
    "peft",
    "peft:links",
    "cpop",
    "enumerative",
    "metis",
    "metis-recursive",
    "fuser",
    "metis-oracle",
    "metis-recursive-oracle",
    "fuser-oracle",
)
"""The placers that return the same placement with all random numbers."""
RIVALS = (*LIMITED, *RANDOMISED, *ONCE)


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
    """Every placer with a number of evaluations gets that of `auto`; the others need less time."""

    evaluations: int

    def compared(self, problem: sp.Problem) -> dict[str, Result]:
        """Return the results of `auto` and its rivals by name."""
        return {name: _run(problem, self._text(name)) for name in ("auto", *RIVALS)}

    def _text(self, name: str) -> str:
        if name in {"auto", *LIMITED}:
            return f"{name}:evaluations={self.evaluations}"
        return f"{name}:{SAMPLES[name]}=50" if name in SAMPLES else name


@dataclass(frozen=True)
class EqualTime:
    """Every placer gets the same CPU time, or that which `auto` used, if it used more.

    `auto` runs first, so that it pays for what is computed once for a problem. Placers that depend
    on random numbers are run again and again, and their best placement counts. The others are run
    once, however long it takes.
    """

    seconds: float

    def compared(self, problem: sp.Problem) -> dict[str, Result]:
        """Return the results of `auto` and its rivals by name."""
        with work_clock.cpu_time():
            auto = _run(problem, f"auto:seconds={self.seconds!r}")
            limit = max(self.seconds, auto.seconds)
            found = {"auto": auto}
            for name in LIMITED:
                found[name] = _run(problem, f"{name}:seconds={limit!r}")
            for name, samples in RANDOMISED.items():
                found[name] = _repeated(problem, f"{name}:{SAMPLES[name]}={samples}", limit)
            for name in ONCE:
                found[name] = _run(problem, name)
        return found


def _run(problem: sp.Problem, text: str) -> Result:
    return _repeated(problem, text, 0.0)


def _repeated(problem: sp.Problem, text: str, seconds: float) -> Result:
    """Run a placer once, and again until its time is spent."""
    placer, judge = make_placer(text), MakespanEvaluator(problem)
    best, used, rng = inf, 0.0, np.random.default_rng(0)
    while True:
        begun = work_clock.now()
        try:
            devices = placer(problem, rng).devices
        except PlacementError:
            return Result(None, work_clock.now() - begun)
        best = min(best, float(judge.makespans(devices)[0]))
        used += work_clock.now() - begun
        if used >= seconds:
            return Result(best, used)
