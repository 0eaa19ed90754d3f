"""The checks of every invariant on one problem."""

import re
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from benchmarks.hardening.campaigns.invariants.capacity import (
    ALWAYS_SAFE,
    MORE,
    shares_no_link,
    throughput_of,
)
from benchmarks.hardening.campaigns.invariants.conservation import above_offered, balances
from benchmarks.hardening.campaigns.invariants.deviations import largest_difference, relative_excess
from benchmarks.hardening.campaigns.invariants.drawn_problems import Checks
from benchmarks.hardening.campaigns.invariants.placer_invariance import PLACERS, share_moved
from benchmarks.hardening.campaigns.invariants.score_invariance import CHANGES, difference, score_of
from benchmarks.reference.changes import remade
from benchmarks.reference.scenes import engine_settings, scenes
from benchmarks.reference.strategies import Case
from streamplace import Placement, Problem
from streamplace.errors import InfeasibleError, PlacementError, ProblemError
from streamplace.placers.repair import feasible
from streamplace.problem.objective import MODELS
from streamplace.scoring import engine
from streamplace.scoring.registry import CLOSED_FORMS
from streamplace.scoring.throughput import bound
from streamplace.sim.engine import Scene

CHECKED_WITH_PLACERS = 0.05  # fraction of the problems
SAME_PLACEMENT = "placers: other names, other order of streams"
NEVER_HURTS = "more capacity never hurts: path-average"
LOWERED_BY_SHARING = "lower throughput where streams share links"
WITHIN_BOUND = "throughput within the bound"
CONSERVATION = "engine: in = out + queued + lost"
MAX_TICKS = 1_000  # in a run; problems that need more are skipped
NO_TUPLES = re.compile("nothing that could reach a sink is offered|no tuple ever reaches a sink")


def check(checks: Checks, case: Case, data: st.DataObject) -> None:
    """Check all invariants of a case; Hypothesis draws the random choices through `data`."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    check_same(checks, case, rng)
    check_closed_forms(checks, case, rng)
    check_engine(checks, case, data)
    if rng.random() < CHECKED_WITH_PLACERS:
        for name in PLACERS:
            checks.record(SAME_PLACEMENT, share_moved(name, case, rng))


def check_same(checks: Checks, case: Case, rng: np.random.Generator) -> None:
    """Check that scores and bounds do not depend on names, order and units."""
    for model in MODELS:
        problem = remade(case[0], model=model)
        one = Placement(problem, case[1])
        score = score_of(one)
        for change in CHANGES:
            if model in change.models:
                other = Placement(*change.change((problem, case[1]), rng))
                checks.record(change.what, difference(one, score, other, change))


def check_closed_forms(checks: Checks, case: Case, rng: np.random.Generator) -> None:
    """Check throughput against the source rate and the bound, and the effect of more capacity."""
    for model in CLOSED_FORMS:
        problem = remade(case[0], model=model)
        reached = throughput_of((problem, case[1]))
        over = relative_excess(reached, problem.source_rate)
        checks.record("throughput within the source rate: closed forms", over)
        try:
            allowed = feasible(problem, np.array(case[1], dtype=np.int32))
        except (PlacementError, InfeasibleError):
            checks.skip(WITHIN_BOUND, "no placement is allowed, or none was found")
        else:
            over = relative_excess(throughput_of((problem, allowed.devices)), bound(problem))
            checks.record(WITHIN_BOUND, over)
        never_lowers = model == "bottleneck" or shares_no_link(problem, case[1])
        for more in MORE:
            better = more(problem, rng)
            lowered = relative_excess(bound(problem), bound(better))
            checks.record("more capacity never lowers a bound", lowered)
            lowered = relative_excess(reached, throughput_of((better, case[1])))
            if never_lowers or more in ALWAYS_SAFE:
                checks.record(f"more capacity never hurts: {model}", lowered)
            else:
                checks.watch(LOWERED_BY_SHARING, lowered)


def check_engine(checks: Checks, case: Case, data: st.DataObject) -> None:
    """Check that the engine neither loses nor creates tuples, and check its throughput."""
    problem = remade(case[0], model="engine")
    scene = data.draw(_scenes(problem)) if data.draw(st.booleans()) else Scene()
    settings, placement = data.draw(engine_settings()), Placement(problem, case[1])
    try:
        simulation = engine.simulation(problem, settings, scene)
        if settings.duration_s / simulation.tick_for(placement.devices) > MAX_TICKS:
            checks.skip(CONSERVATION, f"more than {MAX_TICKS:,} ticks")
            return
        metrics = engine.run(placement, settings, scene)
    except ProblemError as error:
        if scene == Scene() or not NO_TUPLES.search(str(error)):
            raise
        checks.skip(CONSERVATION, "the scene lets nothing reach a sink")
        return
    lost = largest_difference([metrics.trace.lost, *balances(metrics, scene)])
    checks.record(CONSERVATION, lost)
    if not scene.windows:
        checks.record("throughput within the source rate: engine", above_offered(metrics))
    if scene == Scene():  # with a scene, tuples that were offered earlier may also arrive
        over = relative_excess(metrics.throughput, metrics.trace.due.source_rate)
        checks.record("throughput in the measured time within the source rate: engine", over)


def _scenes(problem: Problem) -> st.SearchStrategy[Scene]:
    """Return scenes without windows at sinks, which have no outgoing streams."""
    sinks = set(problem.graph.sinks.tolist())

    def sendable(scene: Scene) -> Scene:
        windows = {v: window for v, window in scene.windows.items() if v not in sinks}
        return replace(scene, windows=windows)

    return scenes(problem).map(sendable)
