"""Sizes of published systems: DS2's vectors, ContTune's Nexmark Q1, and plans of CAPSys."""

import json
from itertools import pairwise
from typing import Any

import pytest

import streamplace as sp
from streamplace.capacity.size import size
from streamplace.capacity.sizing.requirements import requirements
from streamplace.capacity.sizing.scaling import fit_scaling, next_count
from tests.support.released_data import SHARED

DATA = SHARED / "running"
MIPS = 1000.0
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="no data in ../shared")


def read(name: str) -> Any:
    return json.loads((DATA / name).read_text())


def job(case: dict[str, Any]) -> sp.StreamGraph:
    """Return a graph with DS2's rates: sources have their instances, others are free."""
    rates, sources = case["rates"], case["source_rates_target"]
    operators = [
        sp.Operator(
            row["id"],
            MIPS * 1e6 / rates[row["id"]]["true_processing"] if not row["source"] else 0.0,
            0.0,
            parallelism=row["instances"] if row["source"] else "free",
        )
        for row in case["topology"]["operators"]
    ]
    streams = [
        sp.Stream(a, b, 1.0 if a in sources else _selectivity(rates[a]))
        for a, b in case["topology"]["edges"]
    ]
    total = sum(sources.values())
    shares = {name: rate / total for name, rate in sources.items()}
    return sp.StreamGraph(operators, streams, source_rate=total, source_shares=shares)


def _selectivity(rates: dict[str, float]) -> float:
    return rates["true_output"] / rates["true_processing"]


def test_the_vectors_of_ds2_come_out() -> None:
    for case in read("ds2.json")["unit_tests"]:
        share = 1.0 / (1.0 + case["scaling_factor"])
        cluster = sp.Cluster.parse(f"40x{MIPS:g}x8")
        found = size(
            job(case), cluster, minimise="instances", target_utilisation=share, evaluations=5_000
        )
        assert dict(found.parallelism) == case["expected_parallelism"], case["name"]


def test_the_steps_on_nexmark_q1_end_at_the_least_number() -> None:
    """Plain DS2 settles within three steps on 79% of the targets, and oscillates on five."""
    table = read("conttune-q1.json")["interpolation"]["rate_by_parallelism"]
    rates = {int(p): rate for p, rate in table.items()}
    lowest, highest = rates[1], rates[26]
    targets = [lowest + (highest - lowest) * i / 340 for i in range(1, 341)]
    quick = 0
    for target in targets:
        measured, path = {1: rates[1]}, [1]
        while (count := next_count(measured, target, 1, 26)) != path[-1]:
            path.append(count)
            measured[count] = rates[count]
            assert len(path) < 10, "it oscillates"
        least = min(p for p, rate in rates.items() if rate >= target * (1 - 1e-12))
        quick += path[-1] == least and len(path) - 1 <= 3
    assert quick >= 0.95 * len(targets)


def test_the_law_fits_nexmark_q1() -> None:
    """With kappa of at least 0, the largest error is 5.4% at best, and 6.2% by least squares."""
    rows = read("conttune-q1.json")["table"]
    found = fit_scaling({row["parallelism"]: row["mean"] for row in rows})
    assert found.largest_error < 0.065
    assert found.scaling.get("kappa", 0.0) == pytest.approx(0.0, abs=1e-6)


def test_the_rates_of_the_plans_for_q3_inf_come_out() -> None:
    """An instance does at most 1,000 CPU-ms/s, a core; placement does not matter."""
    value = read("capsys.json")
    profile = value["queries"]["Q3"]["aws_scaled"]
    rate = profile["source_rate_records_per_s"]
    names = [row["name"] for row in profile["operators"]]
    streams = [sp.Stream(a, b, partitioning="rebalance") for a, b in pairwise(names)]
    factors = {}
    for plan in value["q3_inf_published_plans"]["plans"]:
        operators = [
            sp.Operator(
                row["name"],
                row["compute_per_instance"] * row["instances"] / rate * 1e6,
                0.0,
                parallelism=plan["instances"][row["name"]],
            )
            for row in profile["operators"]
        ]
        graph = sp.StreamGraph(operators, streams, source_rate=rate)
        cluster = sp.Cluster.parse(f"4x{MIPS:g}x16")
        objective = sp.Throughput(source_rates=(rate,))
        found = requirements(graph, cluster, objective, sp.Constraints(), frozenset())
        expected = plan["carries_times_profiled_rate"]["scaled_profile (2,850/s)"]
        for one in found:
            carried = one.at_most / rate
            assert carried == pytest.approx(expected["per_operator"][one.operator], rel=1e-9)
        factors[plan["plan"]] = min(one.at_most / rate for one in found)
    ranked = sorted(factors, key=factors.__getitem__)
    assert ranked == ["ODRP default", "ODRP weighted", "CAPSys", "ODRP latency"]
