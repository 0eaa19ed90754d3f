"""The systems of the study: trainings, plain placers, other groups and other authors."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from math import inf

import numpy as np

from streamplace.errors import InfeasibleError, PlacementError
from streamplace.learning.policy.weights import new_policy
from streamplace.learning.training.in_memory import fit
from streamplace.learning.training.stages import StepReinforceStage
from streamplace.makespan.evaluator import makespan_evaluator
from streamplace.papers.hsdag.features import HsdagProblem
from streamplace.papers.hsdag.graphs import Graph, joined_groups
from streamplace.papers.hsdag.kernels import by_score, parse
from streamplace.papers.hsdag.placer import HsdagPlacer
from streamplace.papers.hsdag.policy import Hsdag, HsdagWalk
from streamplace.papers.hsdag.study.registered import (
    ABLATIONS,
    ACCELERATOR_ONLY,
    CPU,
    CPU_ONLY,
    HEAVY_GROUPS,
    METIS_GROUPS,
    PLACETO,
    PLACETO_LONGER,
    RNN,
    UNIFORM,
    Registered,
    Variant,
    network_problem,
)
from streamplace.papers.placeto.trials import PUBLISHED, WHOLE, Trial, run_trial
from streamplace.papers.studies.study import Row
from streamplace.papers.studies.workloads import LONG_SEARCH
from streamplace.placers.partition.cut import WeightedGraph, edge_weights, vertex_weights
from streamplace.placers.repair import feasible
from streamplace.placers.running import run_placer
from streamplace.problem.grouping import Grouping, feasible_chain_groups
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.sim import work_clock
from streamplace.util.arrays import Ints

HEFT, PEFT = "HEFT", "PEFT"
CLIMB, SEARCH = "climb", "search"
CLIMB_CHAINS, SEARCH_CHAINS = "climb on chains", "search on chains"
CLIMB_GROUPS, SEARCH_GROUPS = "climb on HSDAG's groups", "search on HSDAG's groups"
RANDOM_GROUPS = "random devices of HSDAG's groups"
PLAIN = (CPU_ONLY, ACCELERATOR_ONLY, HEFT, PEFT)
SEARCHES = (CLIMB, SEARCH, CLIMB_CHAINS, SEARCH_CHAINS, LONG_SEARCH)
NONE_FOUND = (PlacementError, InfeasibleError)
ON_GROUPS = (CLIMB_GROUPS, SEARCH_GROUPS, RANDOM_GROUPS)


@dataclass(frozen=True, eq=False)
class Fixed:
    """A parser that always makes the same groups of the vertices of one problem.

    Parameters
    ----------
    group_of
        (n,) the group of each vertex.
    """

    group_of: Ints

    def __call__(self, graph: Graph, least: Ints, scores: object) -> Ints:
        """Return the groups for each of several copies of the graph, end to end."""
        return joined_groups([self.group_of] * len(graph.sizes))


def heavy_edge_groups(one: HsdagProblem) -> Ints:
    """Return the groups of HSDAG's parser if edges are scored by their traffic, (n,)."""
    graph, least = one.graph, np.array([one.least], np.int32)
    order, limits = by_score(graph.traffic), (least, graph.weight, np.inf)
    made = parse(graph.ends, order, graph.graph_of, *limits, graph.successors, False)
    return made.astype(np.int32)


def metis_groups(one: HsdagProblem) -> Ints:
    """Return groups of METIS's recursive bisection, (n,), for the number of `heavy_edge_groups`.

    Vertices weigh as much as their mean cost, and edges as much as their traffic. METIS may leave
    groups empty, so that there are fewer; its k-way partitioning leaves more of them empty.
    """
    graph, parts = one.graph, int(heavy_edge_groups(one).max()) + 1
    ends, cost = graph.ends, one.cost.mean(axis=1)
    weights = vertex_weights(cost), edge_weights(graph.traffic)
    made = WeightedGraph(ends[:, 0], ends[:, 1], *weights).partition(parts, recursive=True)
    return np.unique(made, return_inverse=True)[1].reshape(-1).astype(np.int32)


FIXED: Mapping[str, Callable[[HsdagProblem], Ints]] = {
    METIS_GROUPS: metis_groups,
    HEAVY_GROUPS: heavy_edge_groups,
}
"""System -> the groups of its policy."""


def kept_together(problem: Problem, grouping: Grouping) -> Problem | None:
    """Return the same problem with every group on one device; None if some group fits on none."""
    rules, names = problem.constraints, problem.graph.names
    members = [np.flatnonzero(grouping.group_of == g) for g in range(grouping.count)]
    sets = [[names[v] for v in group] for group in members if len(group) > 1]
    try:
        return problem.with_constraints(replace(rules, colocate=[*rules.colocate, *sets]))
    except InfeasibleError:
        return None


def placeto(problem: Problem, size: Registered, seed: int) -> Row:
    """Return the row of Placeto, after as many whole sweeps as HSDAG's evaluations allow."""
    return {"system": PLACETO, **_swept(problem, PUBLISHED, _sweeps(problem, size), seed)}


def uniform(problem: Problem, size: Registered, seed: int) -> Row:
    """Return the row of as many sweeps with uniformly random devices."""
    swept = _swept(problem, PUBLISHED, _sweeps(problem, size), seed, uniform=True)
    return {"system": UNIFORM, **swept}


def _sweeps(problem: Problem, size: Registered) -> int:
    return max(1, size.evaluations // len(problem.graph.names))


def placeto_longer(problem: Problem, size: Registered, seed: int) -> Row:
    """Return the row of a whole training of Placeto."""
    return {"system": PLACETO_LONGER, **_swept(problem, WHOLE, size.longer_sweeps, seed)}


def _swept(
    problem: Problem, stage: StepReinforceStage, sweeps: int, seed: int, *, uniform: bool = False
) -> Row:
    """Return what a training of Placeto reaches, or its control.

    Its first sweep starts from the best single device, as HSDAG's episodes do.
    """
    _load_kernels()
    begun = time.process_time()
    trial = Trial(problem, seed=seed, uniform=uniform)
    losses = run_trial(trial, stage.model_copy(update={"epochs": sweeps}))
    return {
        "best_s": float(losses[-1]),
        "evaluations": sweeps * len(problem.graph.names) + 1,
        "cpu_s": time.process_time() - begun,
    }


def rnn(problem: Problem, size: Registered, seed: int) -> Row:
    """Return the row of the RNN placer."""
    steps = max(1, size.evaluations // size.rnn_samples)
    placer = f"rnn:steps={steps}:samples={size.rnn_samples}"
    with work_clock.cpu_time():
        found = run_placer(problem, placer, np.random.default_rng(seed), None)
    return {
        "system": RNN,
        "best_s": seconds_of(problem, found.placement.devices),
        "evaluations": steps * size.rnn_samples,
        "cpu_s": found.seconds,
    }


@cache
def _load_kernels() -> None:
    """Load kernels, whose seconds are not those of a placement."""
    stage = PUBLISHED.model_copy(update={"epochs": 2})
    run_trial(Trial(network_problem("resnet50")), stage)


OTHERS: Mapping[str, Callable[[Problem, Registered, int], Row]] = {
    PLACETO: placeto,
    RNN: rnn,
    PLACETO_LONGER: placeto_longer,
    UNIFORM: uniform,
}
"""System -> its training."""


def alone(problem: Problem) -> dict[str, float | None]:
    """Return the makespans with all operators on one device, in seconds.

    Returns
    -------
    The shortest one of a CPU and that of another device; None where all operators fit on none.
    """
    found = dict[str, float | None]({CPU_ONLY: None, ACCELERATOR_ONLY: None})
    for d, device in enumerate(problem.cluster.devices):
        devices = np.full(len(problem.graph.names), d, np.int32)
        if problem.feasibility.violation(devices) is None:
            kind = CPU_ONLY if device.kind == CPU else ACCELERATOR_ONLY
            seconds, before = seconds_of(problem, devices), found[kind]
            found[kind] = seconds if before is None else min(before, seconds)
    return found


def seconds_of(problem: Problem, devices: Ints) -> float:
    """Return the makespan of a placement, (V,), in seconds."""
    return float(makespan_evaluator(problem).makespans(devices)[0])


def plain(problem: Problem, size: Registered, seed: int) -> Iterator[Row]:
    """Yield the results of single devices and of list scheduling, and of searches by repeat."""
    for system, seconds in alone(problem).items():
        yield {"system": system, "repeat": 0, "best_s": seconds, "evaluations": 1, "cpu_s": 0.0}
    for system in (HEFT, PEFT):
        yield _row(problem, system, system.lower(), (seed, 0))
    chains = kept_together(problem, feasible_chain_groups(problem))
    for repeat in range(size.seeds):
        own = (seed, repeat)
        for system, placer in _searches(size.evaluations).items():
            yield _row(problem, system, placer, own, _start(problem))
            if chains is not None:
                yield _row(chains, f"{system} on chains", placer, own, _start(chains))
        longer = f"search:evaluations={size.longer * size.evaluations}"
        yield _row(problem, LONG_SEARCH, longer, own)


def on_groups(
    problem: Problem, grouping: Grouping, size: Registered, seed: tuple[int, int]
) -> Iterator[Row]:
    """Yield the results of searches that keep groups together, and of random devices of groups."""
    smaller = kept_together(problem, grouping)
    for system, placer in _searches(size.evaluations).items() if smaller is not None else ():
        assert smaller is not None, "as just checked"
        yield _row(smaller, f"{system} on HSDAG's groups", placer, seed, _start(smaller))
    yield _random(problem, grouping, size.evaluations, seed)


def _searches(evaluations: int) -> Mapping[str, str]:
    return {CLIMB: f"climb:evaluations={evaluations}", SEARCH: f"search:evaluations={evaluations}"}


def _start(problem: Problem) -> Placement | None:
    """Return the best single device, from which HSDAG starts, too; None if all fit on none."""
    with suppress(*NONE_FOUND):
        return run_placer(problem, "single", np.random.default_rng(0), None).placement
    return None


def _row(
    problem: Problem,
    system: str,
    placer: str,
    seed: tuple[int, int],
    start: Placement | None = None,
) -> Row:
    """Return the result of a placer; without a makespan if it finds no feasible placement."""
    seconds, evaluations, spent = None, None, None
    with suppress(*NONE_FOUND), work_clock.cpu_time():
        found = run_placer(problem, placer, np.random.default_rng(seed), start)
        seconds = seconds_of(problem, found.placement.devices)
        evaluations, spent = found.evaluations, found.seconds
    return {
        "system": system,
        "repeat": seed[1],
        "best_s": seconds,
        "evaluations": evaluations,
        "cpu_s": spent,
    }


def _random(problem: Problem, grouping: Grouping, evaluations: int, seed: tuple[int, int]) -> Row:
    """Return the best of uniformly random placements of groups, repaired where they must be."""
    begun, rng = time.process_time(), np.random.default_rng(seed)
    devices = rng.integers(len(problem.cluster.devices), size=(evaluations, grouping.count))
    rows = list[Ints]()
    for draft in devices[:, grouping.group_of].astype(np.int32):
        with suppress(*NONE_FOUND):
            rows.append(feasible(problem, draft).devices)
    seconds = makespan_evaluator(problem).makespans(np.stack(rows)) if rows else None
    return {
        "system": RANDOM_GROUPS,
        "repeat": seed[1],
        "best_s": None if seconds is None else float(seconds.min()),
        "evaluations": evaluations,
        "cpu_s": time.process_time() - begun,
    }


@dataclass
class Made:
    """What a policy has made itself, without the starts of its episodes.

    Attributes
    ----------
    seconds
        The makespan of its shortest placement.
    grouping
        The groups by which that was made; None before the first one.
    means_s
        The geometric mean of the makespans of each update's placements.
    """

    seconds: float = inf
    grouping: Grouping | None = None
    means_s: list[float] = field(default_factory=list)

    def watch(self, walks: Sequence[HsdagWalk]) -> None:
        """Add the walks of an update."""
        losses = np.concatenate([walk.losses[1:] for walk in walks])
        self.means_s.append(float(np.exp(np.log(losses).mean())))
        for walk in walks:
            step = int(walk.losses[1:].argmin())
            if walk.losses[step + 1] < self.seconds:
                one, offer = walk.one, walk.steps[step].offer
                of_operators = offer.group_of[one.grouping.group_of]
                self.seconds = float(walk.losses[step + 1])
                self.grouping = Grouping(one.problem.graph, of_operators)


def trained(
    system: str, problem: Problem, size: Registered, seed: int
) -> tuple[Row, Grouping | None]:
    """Train a policy on a problem; return its row, and the groups of its best placement.

    Parameters
    ----------
    system
        HSDAG, one of `FIXED` or one of `ABLATIONS`.
    """
    _warm_up()
    begun = time.process_time()
    variant = ABLATIONS.get(system, Variant())
    options = {"episodes": size.episodes, "samples": size.samples, "steps": size.steps}
    placer = HsdagPlacer(**(options | dict(variant.options)))  # type: ignore[arg-type]  # numbers
    section, stage = placer.section(problem), placer.stage(problem)
    sizes = section.sizes.model_copy(update=dict(variant.sizes))
    start = {"start": "round-robin"} if all(s is None for s in alone(problem).values()) else {}
    stage = stage.model_copy(update=dict(variant.stage) | start)
    policy = new_policy(section.model_copy(update={"sizes": sizes}), seed)
    assert isinstance(policy, Hsdag), "it is of that kind"
    if system in FIXED:
        policy.network.parser = Fixed(FIXED[system](policy.encode(problem)))
    made = Made()
    policy.watch = made.watch
    fitted = fit(policy, [problem], [stage], np.random.default_rng(seed))
    spent = time.process_time() - begun
    lowest = np.exp(-fitted.best_rewards[:, 0])
    row = {
        "system": system,
        "best_s": float(lowest[-1]),
        "own_s": made.seconds,
        "groups": None if made.grouping is None else made.grouping.count,
        "lowest_s": [float(seconds) for seconds in lowest],
        "means_s": made.means_s,
        "evaluations": fitted.evaluations[0],
        "cpu_s": spent,
    }
    return row, made.grouping


@cache
def _warm_up() -> None:
    """Load kernels, so that the first training of a process does not count the seconds of that."""
    problem = network_problem("resnet50")
    placer = HsdagPlacer(episodes=1, samples=2, steps=1)
    stages = [placer.stage(problem)]
    policy = new_policy(placer.section(problem), 0)
    fit(policy, [problem], stages, np.random.default_rng(0))
