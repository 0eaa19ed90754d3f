"""Plans for CAPSys's queries, compared with those of its own rule on its three costs."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import streamplace as sp
from benchmarks.reference.capsys import Plan, Profile, bounds, costs, plans_of_rule
from tests.support.released_data import SHARED

DATA = SHARED / "running" / "capsys.json"
WORKERS, SLOTS = 4, 8
SHARES = ([0.08, 0.15, 0.6], [0.15, 0.25, 0.8], [0.25, 0.3, 0.9])
"""Typical thresholds of the rule; the first ones that some plan meets are used."""
RATE = 1000.0  # tuples/s of every operator; costs are stated per second, so any rate will do
ROUNDING = 1.0 + 1e-6
pytestmark = pytest.mark.skipif(not DATA.exists(), reason="no data in ../shared")


def profiles_of(rows: Sequence[dict[str, Any]]) -> list[Profile]:
    """Return the profile of a query; ``forward`` between unequal numbers is evened out, as Flink
    does, although CAPSys costs it by its formula for equal ones.
    """
    number = {row["name"]: i for i, row in enumerate(rows)}
    found = []
    for row in rows:
        target = number[row["sends_to"][0]] if row["sends_to"] else None
        equal = target is not None and rows[target]["instances"] == row["instances"]
        found.append(
            Profile(
                row["instances"],
                row["compute_per_instance"],
                row["state_per_instance"],
                row["network_per_instance"],
                target,
                forward=equal and row["output_stream"] == "FORWARD",
            )
        )
    return found


def problem_of(
    rows: Sequence[dict[str, Any]], profiles: Sequence[Profile], most: Sequence[float]
) -> sp.Problem:
    """Return the problem whose placements carry everything where no cost is above `most`.

    Compute is the speed of a worker, state a resource of it, and network what it sends.
    """
    fed = Counter(row["sends_to"][0] for row in rows if row["sends_to"])
    sources = [row["name"] for row in rows if row["name"] not in fed]
    rate = {row["name"]: RATE if row["name"] in fed else RATE / len(sources) for row in rows}
    operators, streams = [], []
    for row, one in zip(rows, profiles, strict=True):
        name, total = row["name"], one.instances / rate[row["name"]]
        operators.append(
            sp.Operator(
                name,
                one.compute * total * 1e6,
                0.0,
                parallelism=one.instances,
                resources={"state": one.state} if one.state else {},
            )
        )
        if one.target is not None:
            target = rows[one.target]["name"]
            sent = rate[target] / fed[target]
            streams.append(
                sp.Stream(
                    name,
                    target,
                    sent / rate[name],
                    one.network * one.instances / sent * 1e6 / 8,
                    partitioning="forward" if one.forward else "rebalance",
                )
            )
    compute, state, network = most
    devices = [
        sp.Device(
            f"w{i}",
            compute * ROUNDING,
            slots=SLOTS,
            resources={"state": state * ROUNDING} if state else {},
        )
        for i in range(WORKERS)
    ]
    cluster = sp.Cluster(devices, sp.Network("egress", bandwidth_mbps=network * ROUNDING))
    return sp.Problem(sp.StreamGraph(operators, streams, source_rate=RATE), cluster)


def plan_of(problem: sp.Problem, devices: np.ndarray, operators: int) -> Plan:
    """Return the number of instances of each operator on each worker."""
    owners = list(dict.fromkeys(problem.graph.owners))
    plan: Plan = np.zeros((operators, WORKERS), np.int64)
    for v, owner in enumerate(problem.graph.owners):
        plan[owners.index(owner), devices[v]] += 1
    return plan


@pytest.mark.long
@pytest.mark.parametrize("query", [f"Q{i}" for i in range(1, 7)])
def test_no_cost_is_above_that_of_the_rule_s_plans(query: str) -> None:
    rows = json.loads(DATA.read_text())["queries"][query]["aws_profiled"]["operators"]
    profiles = profiles_of(rows)
    plans = next(
        found for share in SHARES if (found := plans_of_rule(profiles, WORKERS, SLOTS, share, 2000))
    )
    for plan in plans[:3]:
        rule = costs(profiles, plan)
        problem = problem_of(rows, profiles, rule)
        placed = sp.place(problem.graph, problem.cluster, placer="exact", source_rate=RATE)
        assert placed.score.relative_throughput == pytest.approx(1.0, abs=1e-9)
        ours = costs(profiles, plan_of(problem, placed.placement.devices, len(rows)))
        assert all(a <= b * ROUNDING for a, b in zip(ours, rule, strict=True)), (ours, rule)


def test_the_bounds_of_costs_are_the_published_ones() -> None:
    for query in json.loads(DATA.read_text())["queries"].values():
        for value in query.values():
            if not isinstance(value, dict) or "bounds_4_workers_8_slots" not in value:
                continue
            published = value["bounds_4_workers_8_slots"]
            expected = [
                [published[name]["min"], published[name]["max"]]
                for name in ("compute", "state", "network")
            ]
            found = bounds(profiles_of(value["operators"]), WORKERS, SLOTS)
            np.testing.assert_allclose(found, expected)
