"""Explanation of a placement: its bottleneck and the single moves that would help."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from streamplace.problem.objectives import only_throughput
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.problem.rules import violations
from streamplace.scoring.flow import flow
from streamplace.scoring.loads import Bottleneck
from streamplace.scoring.registry import (
    CLOSED_FORMS,
    closed_form,
    evaluator_of_pass,
    throughput_evaluator,
)
from streamplace.scoring.throughput import at_worst_rate, finite_ratio, simulate
from streamplace.sim.closed_form import bottleneck
from streamplace.sim.closed_form.contributions import loads_by_stream
from streamplace.sim.flow import Flow
from streamplace.sim.work import own_utilisations, work_of
from streamplace.util.arrays import Floats, Ints
from streamplace.util.checks import check_seed
from streamplace.workflows.constraint_costs import constraint_costs as costs_of_constraints
from streamplace.workflows.explanation import (
    Contribution,
    Explanation,
    ScoreExplanation,
)
from streamplace.workflows.result import PlacementResult, Result, placement_in
from streamplace.workflows.single_moves import improving_moves, most_units, moves_by_value
from streamplace.workflows.too_heavy import too_heavy
from streamplace.workflows.value_result import ValueResult

LATER = 1e-9  # weight of units that load the bottleneck only by enlarging messages


def explain(
    placement: Placement | Result | ValueResult, *, constraint_costs: bool = False, seed: int = 0
) -> Explanation | ScoreExplanation:
    """Explain a placement: its bottleneck at the worst source rate, and helpful single moves.

    Under a custom objective, the moves are those that raise the objective, even if nothing limits
    the throughput. Without source rates, the result is a `ScoreExplanation`: what the score
    consists of, such as the parts of a makespan, and the moves that improve it.

    Parameters
    ----------
    placement
        A placement, or a result of `place`, whose bound the explanation has, too.
    constraint_costs
        Whether to search for better placements without each constraint, however long that takes. If
        not, this is done only if the placement is below the source rate, and for as many
        constraints as take a fraction of a second.
    seed
        Seed of these searches.

    Raises
    ------
    GraphError
        If tuple rates overflow, or no tuple ever reaches a sink.
    SimulationError
        If the equations of the model could not be solved.
    UsageError
        On a value of another type, or if costs of constraints are wanted under an objective of
        single passes.
    """
    bound = placement.bound if isinstance(placement, PlacementResult) else None
    placement = placement_in("explain: placement", placement)
    check_seed(seed)
    make = placement.problem.objective.function("explain")
    found: Explanation | ScoreExplanation
    found = make(placement, constraint_costs=constraint_costs, seed=seed)
    return found.with_proven(bound)


def explain_throughput(
    placement: Placement, *, constraint_costs: bool = False, seed: int = 0
) -> Explanation:
    """Explain a placement under throughput or a custom objective; see `explain`."""
    found = _explain_bottleneck(placement)
    costs = None
    if found.limited or constraint_costs:
        closed = in_closed_form(placement)
        costs = costs_of_constraints(closed, seed=seed, quick=not constraint_costs)
    problem = placement.problem
    scored = throughput_evaluator(problem)
    bound = None if scored.best_possible is None else scored.bound
    if bound is not None:
        bound *= found.score.source_rate / problem.source_rate  # at the source rate of the score
    return replace(
        found,
        violations=tuple(violations(placement)),
        costs=costs,
        bound=bound,
        bound_is_loose=bound is not None and scored.bound_is_loose,
    )


def _explain_bottleneck(placement: Placement) -> Explanation:
    """Explain the bottleneck of a placement, without its constraints."""
    explained, placement = placement, in_closed_form(placement)
    problem, score = placement.problem, simulate(placement)
    load = _load(at_worst_rate(placement), score.bottleneck)
    used = score.bottleneck.utilisation
    rate_factor = finite_ratio(problem.target_utilisation, used)
    contributions = _contributions(placement, load)
    without_moves = Explanation(explained, score, rate_factor, contributions, (), True)
    worst = at_worst_rate(placement)
    cause = too_heavy(worst.problem, worst.devices) if without_moves.limited else None
    if not without_moves.limited and problem.objective.follows_loads:
        return without_moves
    units = _units_to_try(problem, load)
    size, devices = len(load.of_operators) + len(load.of_streams), len(problem.cluster.devices)
    max_units = max(1, closed_form(problem).quick_score_elements // (size * devices))
    moves = improving_moves(placement, score, units[:max_units])
    every_move_tried = len(units) <= max_units
    return replace(without_moves, moves=moves, every_move_tried=every_move_tried, cause=cause)


def in_closed_form(placement: Placement) -> Placement:
    """Return the placement, under `bottleneck` if its model is not a closed form."""
    problem = placement.problem
    if problem.model in CLOSED_FORMS:
        return placement
    closed = problem.with_objective(problem.throughput_objective.with_changes(model="bottleneck"))
    return Placement(closed, placement.devices)


class _Load(NamedTuple):
    """The utilisation of the bottleneck that each operator and stream causes.

    A stream causes it on a link by its traffic, and on a device by the overhead of messages.
    """

    arrays: Flow
    of_operators: Floats  # (V,) by CPU work; 0 if the bottleneck is a link
    of_streams: Floats  # (E,)
    device: int | None  # of the bottleneck; None: it is a link


def _load(placement: Placement, top: Bottleneck) -> _Load:
    problem, devices = placement.problem, placement.devices
    arrays, share = flow(problem), problem.target_utilisation
    of_operators = np.zeros(arrays.operators)
    device, resource = None, None
    if top.kind == "operator":
        v = problem.graph.index[top.name]
        device = int(devices[v])
        of_operators[v] = own_utilisations(arrays, devices)[v]
    elif top.kind == "device":
        device = resource = problem.cluster.index[top.name]
        here = devices == device
        of_operators[here] = (work_of(arrays, devices) / arrays.capacity[device])[here]
    else:
        resource = arrays.devices + int(bottleneck.utilisations(arrays, devices)[1].argmax())
    of_streams = np.zeros(len(arrays.source))
    if resource is not None:
        of_streams = loads_by_stream(arrays, devices, resource)
    return _Load(arrays, of_operators * share, of_streams * share, device)


def _contributions(placement: Placement, load: _Load) -> tuple[Contribution, ...]:
    """Return the contributions of operators (with overheads) or of streams, the largest first."""
    names, arrays = placement.problem.graph.names, load.arrays
    each = load.of_streams
    if load.device is not None:
        each = load.of_operators.copy()
        for end in (arrays.source, arrays.target):
            here = placement.devices[end] == load.device
            np.add.at(each, end[here], load.of_streams[here])
    total = each.sum()
    made = []
    for i in np.argsort(-each, kind="stable")[: np.count_nonzero(each)]:
        ends = (i,) if load.device is not None else (arrays.source[i], arrays.target[i])
        used = float(each[i])
        made.append(Contribution(tuple(names[v] for v in ends), used, float(used / total)))
    return tuple(made)


def _units_to_try(problem: Problem, load: _Load) -> Ints:
    """Return the units whose move may help, starting with those that load the bottleneck most.

    Under `bottleneck` only units that load the bottleneck are included: moving others does not
    relieve it.
    """
    weight = load.of_operators.copy()
    for end in (load.arrays.source, load.arrays.target):
        np.add.at(weight, end, load.of_streams)
    if load.arrays.multicast:  # other consumers may enlarge the messages that count with one stream
        sent = np.bincount(load.arrays.source, load.of_streams, minlength=len(weight))
        np.add.at(weight, load.arrays.target, LATER * sent[load.arrays.source])
    feasibility = problem.feasibility
    of_unit = np.bincount(feasibility.unit_of, weights=weight, minlength=feasibility.unit_count)
    order = np.argsort(-of_unit, kind="stable").astype(np.int32)
    return order[of_unit[order] > 0] if throughput_evaluator(problem).linear else order


def explain_pass(
    placement: Placement, *, constraint_costs: bool = False, seed: int = 0
) -> ScoreExplanation:
    """Explain the score of one pass of a placement; see `explain`.

    Raises
    ------
    ProblemError
        If the objective is throughput.
    GraphError
        If loads overflow.
    """
    if constraint_costs:
        only_throughput(placement.problem.objective, "constraint costs support only throughput")
    scored = evaluator_of_pass(placement.problem)
    score = scored.score(placement.devices)
    units = _units_in_turn(placement, score.tried_first, score.timetable.run.duration)
    most = most_units(scored.parts, scored.tasks.devices)
    return ScoreExplanation(
        placement,
        score,
        moves_by_value(placement, scored, score, units[:most]),
        len(units) <= most,
        tuple(violations(placement)),
    )


def explain_values(
    placement: Placement, *, constraint_costs: bool = False, seed: int = 0
) -> ScoreExplanation:
    """Explain the value of a placement under an objective of another kind; see `explain`."""
    if constraint_costs:
        only_throughput(placement.problem.objective, "constraint costs support only throughput")
    scored = placement.problem.evaluator
    score = scored.score(placement.devices)
    units = np.arange(placement.problem.feasibility.unit_count, dtype=np.int32)
    most = most_units(scored.parts, len(placement.problem.cluster.devices))
    return ScoreExplanation(
        placement,
        score,
        moves_by_value(placement, scored, score, units[:most]),
        len(units) <= most,
        tuple(violations(placement)),
    )


def _units_in_turn(placement: Placement, tried_first: list[int], duration: Floats) -> Ints:
    """Return all units: those of the first operators, in their order, then by their work."""
    feasibility = placement.problem.feasibility
    first = feasibility.unit_of[tried_first].tolist()
    seconds = np.bincount(feasibility.unit_of, duration, feasibility.unit_count)
    others = np.argsort(-seconds, kind="stable")
    units: Ints = np.array(list(dict.fromkeys([*first, *others.tolist()])), dtype=np.int32)
    return units
