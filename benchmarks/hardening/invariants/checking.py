"""Every invariant on one problem."""

import re
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from benchmarks.hardening.invariants.capacity import (
    EVER,
    MORE,
    reaches,
    shares_no_link,
)
from benchmarks.hardening.invariants.conservation import above_offered, balances
from benchmarks.hardening.invariants.drawing import Checks
from benchmarks.hardening.invariants.placers import NAMED, placed_apart
from benchmarks.hardening.invariants.same import CHANGES, difference, score_of
from benchmarks.hardening.invariants.tallies import above, furthest
from benchmarks.reference.changes import remade
from benchmarks.reference.scenes import scenes, told
from benchmarks.reference.strategies import Case
from sim.engine import Scene
from streamplace import Placement, Problem
from streamplace.errors import InfeasibleError, PlacementError, ProblemError
from streamplace.placers.repair import feasible
from streamplace.problem.objective import CLOSED_FORMS, MODELS
from streamplace.scoring import engine
from streamplace.scoring.throughput import bound

PLACED = 0.05  # share of the problems that go through all placers
PLACED_ALIKE = "placers: other names, other order of streams"
HURTS_NOBODY = "more capacity never hurts: path-average"
SHARED = "where streams share links it did"
WITHIN_BOUND = "throughput within the bound"
LOST = "engine: in = out + queued + lost"
TICKS = 1_000  # of a run, at most
NOTHING = re.compile("nothing that could reach a sink is offered|no tuple ever reaches a sink")


def check(checks: Checks, case: Case, data: st.DataObject) -> None:
    """Check all invariants of a case; chance is drawn from `data`."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    check_same(checks, case, rng)
    check_closed_forms(checks, case, rng)
    check_engine(checks, case, data)
    if rng.random() < PLACED:
        for name in NAMED:
            checks.see(PLACED_ALIKE, placed_apart(name, case, rng))


def check_same(checks: Checks, case: Case, rng: np.random.Generator) -> None:
    """Scores and bounds do not depend on names, order and units."""
    for model in MODELS:
        problem = remade(case[0], model=model)
        one = Placement(problem, case[1])
        score = score_of(one)
        for change in CHANGES:
            if model in change.models:
                other = Placement(*change.change((problem, case[1]), rng))
                checks.see(change.what, difference(one, score, other, change))


def check_closed_forms(checks: Checks, case: Case, rng: np.random.Generator) -> None:
    """Nothing exceeds what is offered, or the bound; more of something never hurts."""
    for model in CLOSED_FORMS:
        problem = remade(case[0], model=model)
        reached = reaches((problem, case[1]))
        over = above(reached, problem.source_rate)
        checks.see("throughput within the source rate: closed forms", over)
        try:
            allowed = feasible(problem, np.array(case[1], dtype=np.int32))
        except (PlacementError, InfeasibleError):
            checks.skip(WITHIN_BOUND, "no placement is allowed, or found")
        else:
            over = above(reaches((problem, allowed.devices)), bound(problem))
            checks.see(WITHIN_BOUND, over)
        always = model == "bottleneck" or shares_no_link(problem, case[1])
        for more in MORE:
            better = more(problem, rng)
            lowered = above(bound(problem), bound(better))
            checks.see("more capacity never lowers a bound", lowered)
            lowered = above(reached, reaches((better, case[1])))
            if always or more in EVER:
                checks.see(f"more capacity never hurts: {model}", lowered)
            else:
                checks.watch(SHARED, lowered)


def check_engine(checks: Checks, case: Case, data: st.DataObject) -> None:
    """The engine loses nothing and makes nothing."""
    problem = remade(case[0], model="engine")
    scene = data.draw(_scenes(problem)) if data.draw(st.booleans()) else Scene()
    settings, placement = data.draw(told()), Placement(problem, case[1])
    try:
        made = engine.simulation(problem, settings, scene)
        if settings.duration_s / made.tick_for(placement.devices) > TICKS:
            checks.skip(LOST, f"more than {TICKS:,} ticks")
            return
        found = engine.run(placement, settings, scene)
    except ProblemError as error:
        if scene == Scene() or not NOTHING.search(str(error)):
            raise
        checks.skip(LOST, "the scene lets nothing reach a sink")
        return
    lost = furthest([found.raw.lost, *balances(found, scene)])
    checks.see(LOST, lost)
    if not scene.windows:
        checks.see("throughput within the source rate: engine", above_offered(found))
    if scene == Scene():  # what was offered before would be measured too, had it waited
        over = above(found.throughput, found.raw.due.source_rate)
        checks.see("throughput while measured within the source rate: engine", over)


def _scenes(problem: Problem) -> st.SearchStrategy[Scene]:
    """Return scenes without windows at sinks, which have nobody to send to."""
    sinks = set(problem.graph.sinks.tolist())

    def sendable(scene: Scene) -> Scene:
        windows = {v: window for v, window in scene.windows.items() if v not in sinks}
        return replace(scene, windows=windows)

    return scenes(problem).map(sendable)
