"""Training problems made from graphs, their grouping into steps, and where episodes start."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from streamplace.errors import (
    Fault,
    ObjectiveError,
    PlacementError,
    StreamplaceError,
    within,
)
from streamplace.learning.policy.base import AnyPolicy
from streamplace.learning.policy.encoded import Encoded
from streamplace.learning.policy.registry import KINDS, faults_of, kinds_for
from streamplace.learning.training.config import ProblemsSection
from streamplace.learning.training.rewards import ENGINE_SETTINGS
from streamplace.placers.base import supported_in_words
from streamplace.placers.repair import feasible
from streamplace.placers.running import run_placer
from streamplace.problem.cluster import Cluster, Network
from streamplace.problem.device_kinds import kinds_of, stated_kinds, with_origins
from streamplace.problem.graph import StreamGraph
from streamplace.problem.graph_checks import listed
from streamplace.problem.makespan import PublishedName, with_published_semantics
from streamplace.problem.objective import Objective
from streamplace.problem.objectives import text_of
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Ints

Rows = NDArray[np.int64]

FALLBACK = "round-robin"
"""The placer of starts where a stage names none: it repairs what violates a constraint."""


def repair_rows(problem: Problem, rows: Rows, devices: Ints) -> tuple[Rows, Ints]:
    """Repair some rows of placements, (S, V), in the same way as placers do.

    Returns
    -------
    tuple
        (R,) the rows that could be repaired, and (R, V) their repaired placements.
    """
    if problem.feasibility.is_free:
        return rows, devices[rows]
    repairable, kept = [], []
    for s in rows:
        with suppress(PlacementError):
            kept.append(feasible(problem, devices[s]).devices)
            repairable.append(s)
    return np.array(repairable, dtype=np.int64), np.array(kept, np.int32).reshape(
        -1, devices.shape[1]
    )


def start_of(
    problem: Problem, placer: str, rng: np.random.Generator, key: str, number: int | str
) -> Placement:
    """Return the placement from which a policy starts, repaired where it violates a constraint.

    Parameters
    ----------
    placer
        The placer of starts, with its options.
    key
        Where the placer is named, such as ``stage[0].start``, for messages.
    number
        The number of the problem, for messages about graphs without a name.

    Raises
    ------
    StreamplaceError
        If the placer cannot place the problem; the message names the key, the graph and a remedy.
    """
    try:
        return feasible(problem, run_placer(problem, placer, rng).placement.devices)
    except StreamplaceError as error:
        if error.needs_origin:
            error.put(problem.graph.name or f"problem {number}")
        error.put(key)
        if isinstance(error, ObjectiveError):  # what it recommends is for commands that place
            error.update(remedy="choose another placer, or another objective of [[problems]]")
        elif isinstance(error, PlacementError):
            error.advise(_remedy(placer, key))
        raise


def _remedy(placer: str, key: str) -> str:
    """Return what to do where a placer found no start."""
    if not key.endswith(".start"):  # the stage names no placer
        return "leave the graph out, or set run.held_out = 0"
    if placer.partition(":")[0] == FALLBACK:
        return "choose another placer, or leave the graph out"
    return f'choose another placer, for example start = "{FALLBACK}"'


def make_problems(
    graphs: Sequence[StreamGraph],
    groups: Sequence[ProblemsSection],
    seed: int,
    clusters: Sequence[Cluster] | None = None,
) -> list[Problem]:
    """Return the problems of all groups: each graph at each source rate.

    Parameters
    ----------
    clusters
        The cluster of each graph; None: each gets one of its group's, drawn at random.

    Raises
    ------
    StreamplaceError
        If a graph and its cluster do not make a valid problem; the message names the graph.
    """
    return [
        one
        for number, group in enumerate(groups)
        for one in _group(graphs, group, np.random.default_rng([seed, 0, number]), clusters)
    ]


def _group(
    graphs: Sequence[StreamGraph],
    config: ProblemsSection,
    rng: np.random.Generator,
    own: Sequence[Cluster] | None,
) -> Iterator[Problem]:
    clusters = [Cluster.parse(text).devices for text in config.devices]
    smallest, largest = config.operators
    for number, graph in enumerate(graphs):
        if not smallest <= len(graph.names) <= largest or rng.random() >= config.share:
            continue
        devices = clusters[rng.integers(len(clusters))]
        network = replace(
            Network(),
            kind=config.networks[rng.integers(len(config.networks))],
            bandwidth_mbps=config.bandwidth_mbps[rng.integers(len(config.bandwidth_mbps))],
        )
        cluster = Cluster(devices, network) if own is None else own[number]
        rates: list[float | None] = [*config.source_rates] or [None]
        for rate in rates:
            with within(graph.name or f"graph {number}"):
                objective = config.made_objective
                if not objective.has_rates:
                    yield _without_rates(graph, cluster, objective, config.semantics)
                    break
                objective = objective.with_changes(rate, config.model).with_engine(ENGINE_SETTINGS)
                yield Problem(graph, cluster, objective=objective)


def _without_rates(
    graph: StreamGraph, cluster: Cluster, objective: Objective, semantics: PublishedName | None
) -> Problem:
    """Return a problem that no source rate changes, such as that of a makespan."""
    if semantics is not None:
        graph, cluster = with_published_semantics(graph, cluster, semantics)
    return Problem(graph, cluster, objective=objective)


def unused_times(
    graphs: Sequence[StreamGraph],
    groups: Sequence[ProblemsSection],
    clusters: Sequence[Cluster] | None = None,
) -> str:
    """Return a note on times for kinds of devices that training does not have; else no text.

    Parameters
    ----------
    groups, clusters
        See `make_problems`.
    """
    stated = {kind for graph in graphs for kind in stated_kinds(graph)}
    texts = dict.fromkeys(text for group in groups for text in group.devices)
    used = [Cluster.parse(text) for text in texts] if clusters is None else clusters
    unused = stated - with_origins(kind for cluster in used for kind in kinds_of(cluster))
    if not unused:
        return ""
    own = f" ({' or '.join(texts)}, those of --config; --cluster sets others)"
    where = own if clusters is None else ""
    return f"seconds_on: training has no device of kind {listed(sorted(unused))}{where}"


def encoded_by(policy: AnyPolicy, problems: Sequence[Problem]) -> list[Encoded]:
    """Return problems encoded for a policy.

    Raises
    ------
    StreamplaceError
        If the policy cannot place a problem; the message names its graph, unless the policy does
        not support the objective.
    """
    encoded: list[Encoded] = []
    for number, problem in enumerate(problems):
        check_objective(policy, problem)
        name = problem.graph.name or f"problem {number}"
        with within(name), faults_of(policy, "encoding"):
            policy.check(problem)
            encoded.append(policy.encode(problem))
    return encoded


def check_objective(policy: AnyPolicy, problem: Problem) -> None:
    """Refuse a problem whose objective a policy does not support.

    Raises
    ------
    ObjectiveError
        If it does not; the message names the kind of the policy, and the kinds that do.
    """
    cls, quantity = type(policy), problem.objective.quantity
    supported = cls.quantities()
    if supported is None or quantity in supported:
        return
    path = f"{cls.__module__}:{cls.__name__}"
    name = next((name for name, kind in KINDS.items() if kind.policy == path), cls.__name__)
    fault = f"policy {name!r} supports only {supported_in_words(supported)}, not {quantity}"
    remedy = f"use another objective, or a policy of the kind {', '.join(kinds_for(quantity))}"
    raise ObjectiveError(Fault(fault, remedy=remedy))


def largest_first(encoded: Sequence[Encoded], numbers: np.ndarray) -> np.ndarray:
    """Return problem numbers sorted by the number of operators, largest first."""
    sizes = np.array([encoded[i].size for i in numbers])
    return numbers[np.argsort(-sizes, kind="stable")]


def steps_of(
    encoded: Sequence[Encoded], own: np.ndarray, problems: int, scores: int, seed: list[int]
) -> list[np.ndarray]:
    """Return an epoch's steps in random order, each as problem numbers, largest problem first.

    All problems of a step have the same number of devices, so that none needs padding.

    Parameters
    ----------
    own
        Numbers of the problems of the epoch.
    problems
        Largest number of problems in a step.
    scores
        Largest sum of operators x devices in a step; 0: no limit. A problem above the limit gets
        its own step.
    seed
        Seed of the order.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(own)
    devices = np.array([len(encoded[i].problem.cluster.devices) for i in order])
    steps: list[list[int]] = []
    room, previous_devices = 0, 0
    for k in np.argsort(devices, kind="stable"):
        i, cells = int(order[k]), encoded[order[k]].size * int(devices[k])
        is_full = bool(steps) and (len(steps[-1]) == problems or (scores and cells > room))
        if not steps or is_full or devices[k] != previous_devices:
            steps.append([])
            room, previous_devices = scores, devices[k]
        steps[-1].append(i)
        room -= cells
    return [largest_first(encoded, np.array(steps[k])) for k in rng.permutation(len(steps))]


def hash_of(problems: Sequence[Problem]) -> str:
    """Return a hash of graphs, clusters, source rates, constraints, models and objectives.

    The hash covers reprs that leave out newer fields with default values, and it leaves out the
    objective ``throughput``, so that checkpoints of older versions keep their hash.
    """
    hasher = hashlib.sha256()
    for problem in problems:
        cluster = (problem.cluster.devices, problem.cluster.network)
        rest: tuple[object, ...] = (*cluster, problem.constraints)
        if problem.objective.has_rates:
            rest = (*cluster, problem.source_rate, problem.constraints, problem.model)
        objective = text_of(problem.objective)
        named = "" if objective == "throughput" else f" {objective}"
        hasher.update(f"{problem.graph.sha256} {rest!r}{named}\n".encode())
    return hasher.hexdigest()
