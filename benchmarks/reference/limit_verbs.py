"""What each verb claims under each kind of limit, compared with all placements of small problems.

At users' defaults, a verb that knows a limit must count on it wherever another verb does. Each
check raises AssertionError where a claim is wrong.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import streamplace as sp
from benchmarks.reference.limit_problems import (
    UNLIMITED,
    Case,
    doubled,
    joined,
    joint_loads,
    limited,
    two_limited,
    ungrouped,
)
from benchmarks.reference.two_jobs import ordered, shares_of_two
from streamplace.capacity.plan.result import Plan
from streamplace.errors import InfeasibleError, ProblemError
from streamplace.workflows.conflict import conflict
from streamplace.workflows.explain import explain_throughput

TOLERANCE = 1e-6  # relative difference that counts as none
FREE = 5e-3  # relative gain below which `explain` leaves a rule out


def place(case: Case) -> None:
    best = case.best()
    if not best:
        with _refused(InfeasibleError):
            sp.place(case.graph, case.cluster)
        return
    found = sp.place(case.graph, case.cluster)
    row = case.rows.index(tuple(found.placement.devices.tolist()))
    assert case.satisfying()[row]
    reached, most = min(case.highest[row], case.rate), min(best, case.rate)
    assert found.score.throughput == pytest.approx(reached, rel=TOLERANCE)
    assert reached == pytest.approx(most, rel=TOLERANCE)
    assert found.bound is not None
    assert found.gap is not None
    assert found.bound >= most * (1 - TOLERANCE)
    assert found.gap >= 1 - reached / most - TOLERANCE


def plan(case: Case) -> None:
    devices = case.cluster.devices
    every = range(len(devices))
    sets = {n: list(combinations(every, n)) for n in range(1, len(devices) + 1)}
    best = {n: max(case.best(s) for s in some) for n, some in sets.items()}
    if not best[len(devices)]:
        if len({replace(device, name="one") for device in devices}) == 1:
            return  # more devices of the kind may have room
        with _refused(InfeasibleError):
            sp.plan(case.graph, case.cluster)
        return
    first = min(n for n, rate in best.items() if rate)
    found, refusal = _planned(case)
    if found is None:
        assert "nothing limits the source rate" in refusal
        assert best[first] >= UNLIMITED
        return
    priced = devices[0].price is not None

    def price(chosen: tuple[int, ...]) -> float:
        return sum(devices[d].price or 0.0 for d in chosen) if priced else 0.0

    keeping = [s for some in sets.values() for s in some if case.best(s) >= case.rate * (1 - 1e-9)]
    known = {row.devices: row for row in found.rows}
    assert set(found.missing) == {n for n in best if n < found.rows[-1].devices and not best[n]}
    assert set(found.left_out) == {n for n in best if n < found.rows[-1].devices} - set(known)
    for n, row in known.items():
        if n > len(devices):
            assert row.bound >= best[len(devices)] * (1 - TOLERANCE)
            continue
        assert best[n], row
        assert row.bound >= best[n] * (1 - TOLERANCE), row
        cheap = [price(s) for s in keeping if len(s) == n]
        assert row.keeps_up == bool(cheap), row
        if row.names is None:
            assert row.max_source_rate == pytest.approx(best[n], rel=TOLERANCE)
            continue
        own = tuple(case.cluster.index[name] for name in row.names)
        assert row.max_source_rate == pytest.approx(case.best(own), rel=TOLERANCE), row
        if not cheap:
            assert row.max_source_rate == pytest.approx(best[n], rel=TOLERANCE), row
        elif priced:
            assert price(own) == pytest.approx(min(cheap)), row
    if not keeping:
        assert found.cheapest is None
        assert found.fewest_devices is None or found.fewest_devices > len(devices)
    elif found.cheapest is None:
        assert found.fewest_devices == min(map(len, keeping))
    else:
        own = tuple(case.cluster.index[name] for name in found.cheapest.devices)
        assert case.best(own) >= case.rate * (1 - TOLERANCE)
        unit = price if priced and any(d.price for d in devices) else len
        assert unit(own) == pytest.approx(min(map(unit, keeping)))
        assert found.cheapest.bound <= found.cheapest.price * (1 + TOLERANCE)


def _planned(case: Case) -> tuple[Plan | None, str]:
    """Return the plan, or why there is none."""
    try:
        return sp.plan(case.graph, case.cluster), ""
    except ProblemError as error:
        return None, str(error)


def size(case: Case) -> None:
    """One or two instances of the last operator, which is in no group, and one of each other."""
    last = case.graph.names[-1]
    single = ungrouped(case, last)
    stated, _ = single.graph.with_numbers(
        parallelism=dict.fromkeys(range(len(case.graph.names) - 1), 1),
        max_parallelism={len(case.graph.names) - 1: 2},
    )
    devices = case.cluster.devices
    sets = [s for n in range(len(devices)) for s in combinations(range(len(devices)), n + 1)]
    keeping = [
        (one, chosen)
        for one in (single, doubled(single, last))
        for chosen in sets
        if one.best(chosen) >= case.rate * (1 - 1e-9)
    ]
    priced = devices[0].price is not None
    for minimise in ("machines", "money", "instances") if priced else ("machines", "instances"):
        if not keeping:
            with _refused(InfeasibleError):
                sp.size(stated, case.cluster, minimise=minimise)
            continue
        found = sp.size(stated, case.cluster, minimise=minimise)
        least = {
            "machines": min(len(chosen) for _, chosen in keeping),
            "money": min(sum(devices[d].price or 0.0 for d in chosen) for _, chosen in keeping),
            "instances": min(len(one.graph.names) for one, _ in keeping),
        }[minimise]
        assert found.placement is not None
        row = tuple(found.placement.devices.tolist())
        own = next(one for one, _ in keeping if len(one.graph.names) == len(row))
        k = own.rows.index(row)
        assert own.satisfying()[k]
        assert own.highest[k] >= case.rate * (1 - TOLERANCE)
        document = found.to_dict()
        assert document[minimise] == pytest.approx(least)
        assert document["bound"] <= least * (1 + TOLERANCE)


def explain(case: Case) -> None:
    best = case.best()
    if not best:
        return
    found = sp.place(case.graph, case.cluster)
    explained = explain_throughput(found.placement, constraint_costs=True)
    used, own = case.loads[case.rows.index(tuple(found.placement.devices.tolist()))]
    top = explained.score.bottleneck
    assert top.utilisation == pytest.approx(
        float(max([*used.values(), *own.values()])), rel=TOLERANCE
    )
    assert not explained.violations
    rules = [*case.rules]
    without = {r: case.best(rules=[o for o in rules if o != r]) for r in rules}
    costly = {rule: rate for rule, rate in without.items() if rate > best * (1 + FREE + TOLERANCE)}
    if explained.costs is None:
        assert not costly
        return
    assert explained.costs.every_rule_tried
    assert explained.costs.max_source_rate == pytest.approx(best, rel=TOLERANCE)
    listed = {str(cost.rule): cost for cost in explained.costs.without}
    assert costly.keys() <= listed.keys()
    for name, cost in listed.items():
        assert cost.max_source_rate == pytest.approx(without[name], rel=TOLERANCE)
        assert cost.gain == pytest.approx(without[name] - best, rel=TOLERANCE)


def named_conflict(case: Case) -> None:
    found = conflict(case.graph, case.cluster)
    if case.satisfying().any():
        assert found is None
        return
    assert found is not None
    assert found.is_minimal
    _is_irreducible(case, [str(rule) for rule in found.rules])
    with _refused(InfeasibleError) as refusal:
        sp.place(case.graph, case.cluster)
    named = _named(case, refusal[0].partition("; no placement satisfies ")[2])
    if named:
        _is_irreducible(case, named)


def _is_irreducible(case: Case, names: list[str]) -> None:
    assert not case.satisfying(names).any()
    for left_out in names:
        assert case.satisfying([name for name in names if name != left_out]).any(), left_out


def _named(case: Case, text: str) -> list[str]:
    """Return the rules that a message names, with a limit of all devices as one of each."""
    everywhere = {
        name: f"{name.partition(' of ')[0]} of all" for name in case.rules if " of " in name
    }
    return [name for name in case.rules if name in text or everywhere.get(name, name) in text]


def jobs(limit: str, seed: int) -> None:
    """Two jobs: their shares under a placement, and the best ones; or that a minimum holds."""
    every, cluster = two_limited(limit, seed)
    case = joined(every, cluster)
    rows = [row for row, fine in zip(case.rows, case.satisfying(), strict=True) if fine]
    if not rows:
        with _refused(InfeasibleError):
            sp.place_jobs(every, cluster)
        return
    loads, caps = joint_loads(every, cluster, rows)
    least = [job.min_throughput / job.offered for job in every]
    used = least[0] * loads[0] + least[1] * loads[1]
    kept = (used.max(axis=1) <= 1 + 1e-9) & (caps[0] >= least[0] - 1e-9)
    if not kept.any():
        with _refused(InfeasibleError) as refusal:
            sp.place_jobs(every, cluster)
        assert "min_throughput" in refusal[0]
        return
    found = sp.place_jobs(every, cluster)
    row = rows.index(tuple(found.devices.tolist()))
    reached = [job.throughput / job.source_rate for job in found.jobs]
    if any(least):
        assert kept[row]
        assert all(
            share >= part * (1 - TOLERANCE) for share, part in zip(reached, least, strict=True)
        )
        return
    vectors = ordered(every, *shares_of_two(every, loads, caps))
    own = ordered(every, *(np.array([share]) for share in reached))[0]
    assert own == pytest.approx(vectors[row], rel=TOLERANCE)
    assert own == pytest.approx(max(vectors.tolist()), rel=TOLERANCE)


@contextmanager
def _refused(kind: type[Exception]) -> Iterator[list[str]]:
    """Check that a verb raises an error, whose text is the item of the list afterwards."""
    text = list[str]()
    try:
        yield text
    except kind as error:
        text.append(str(error))
    assert text, "no refusal"


def _of_case(check: Callable[[Case], None], rules: float = 0.15) -> Callable[[str, int], None]:
    return lambda limit, seed: check(limited(limit, seed, rules=rules))


VERBS: dict[str, Callable[[str, int], None]] = {
    "place": _of_case(place),
    "plan": _of_case(plan),
    "size": _of_case(size),
    "explain": _of_case(explain),
    "place, rules that exclude each other": _of_case(named_conflict, rules=0.4),
    "place, two jobs": jobs,
}
"""Verb -> the check of what it claims in the case of a kind of limit and a seed."""
