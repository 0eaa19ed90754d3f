"""The makespan objective: checks, its text, and problems that have it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import streamplace as sp
from streamplace.errors import ProblemError, StreamplaceError, UsageError
from streamplace.problem.makespan import PUBLISHED, with_published_semantics
from streamplace.problem.objectives import make_objective, text_of

GRAPH = sp.StreamGraph([("a", 1, 1), ("b", 1, 1)], [("a", "b")])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"batch": 0}, "batch: must be a whole number from 1 to 1,000,000,000,000 (got 0)"),
        ({"batch": 1.5}, "batch: must be a whole number"),
        ({"batch": True}, "batch: must be a whole number"),
        ({"order": "fiffo"}, "order: must be one of fifo, b-level, topological, sequence, any"),
        ({"barrier": 1}, "barrier: must be bool, not int"),
        ({"noise": 1}, "noise: must be at least 0 and below 1 (got 1)"),
        ({"noise": -0.1}, "noise: must be at least 0 and below 1 (got -0.1)"),
        ({"noise": float("nan")}, "noise: must be at least 0 and below 1 (got nan)"),
        ({"noise": "x"}, "noise: must be a number (got 'x')"),
        ({"repeats": 2}, "repeats: without noise, all passes are equal; set noise as well"),
        ({"seed": -1}, "seed must be at least 0 (got -1)"),
    ],
)
def test_values_out_of_range(values: dict[str, Any], message: str) -> None:
    with pytest.raises(StreamplaceError) as caught:
        sp.Makespan(**values)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "objective",
    [
        sp.Makespan(),
        sp.Makespan(batch=8, order="b-level", barrier=True),
        sp.Makespan(inputs_everywhere=True, noise=0.1, repeats=3, seed=5, order="any"),
    ],
)
def test_its_text_is_read_back(objective: sp.Makespan) -> None:
    text = text_of(objective)
    assert text.startswith("makespan")
    assert make_objective(text) == make_objective(text, from_file=True) == objective


def test_options_of_its_text() -> None:
    with pytest.raises(UsageError, match="unknown option 'source_rates'"):
        make_objective("makespan:source_rates=3")
    with pytest.raises(ProblemError, match="order: must be one of"):
        make_objective("makespan:order=lifo")


def test_a_problem_needs_no_source_rate() -> None:
    problem = sp.Problem(GRAPH, "2x1000", objective=sp.Makespan(batch=4))
    assert problem.makespan_objective.batch == 4
    assert "for makespan:batch=4" in repr(problem)
    with pytest.raises(ProblemError, match="asked for, but the objective is makespan; "):
        _ = problem.source_rate
    throughput = problem.with_objective(sp.Throughput.of(5))
    assert throughput.source_rate == 5
    with pytest.raises(ProblemError, match="this needs makespan, but the objective is throughput"):
        _ = throughput.makespan_objective


def test_it_has_no_parameters_of_throughput() -> None:
    aim = sp.Makespan()
    assert aim.with_changes() is aim
    for name, value in (("source_rate", 3), ("model", "engine"), ("target_utilisation", 0.5)):
        words = name.replace("_", " ")
        with pytest.raises(ProblemError, match=f"a makespan has no {words}; leave it out"):
            aim.with_changes(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_semantics(name: Any) -> None:
    override = sp.LinkOverride("x", "y", bandwidth_mbps=5, latency_s=0.25, gap_s=0.125)
    network = sp.Network("pair", 10, 0.5, 0.1, 0.2, (override,), overhead_s_per_byte=1e-9)
    devices = [sp.Device("x", 1, startup_s=3, overhead_s_per_byte=1e-8), sp.Device("y", 2)]
    graph, cluster = with_published_semantics(GRAPH, sp.Cluster(devices, network), name)
    changed = cluster.network
    assert graph.multicast == ("all" if name == "placeto" else "none")
    assert changed.kind == ("egress" if name == "placeto" else "free")
    assert changed.latency_s == (0.5 if name == "giph" else 0.0)
    assert changed.gap_s == (25e-6 if name == "placeto" else 0.0)
    assert (changed.overhead_s, cluster.overhead_s_per_byte.tolist()) == (0.0, [0.0, 0.0])
    assert {d.startup_s for d in cluster.devices} == {5.7e-6 if name == "placeto" else 0.0}
    assert cluster.link_column("bandwidth_mbps").tolist() == [10, 5, 10, 10]
    kept = 0.25 if name == "giph" else changed.latency_s
    assert cluster.link_column("latency_s")[1] == kept
    assert cluster.link_column("gap_s")[1] == changed.gap_s


def test_published_semantics_refuse_overrides_of_interfaces() -> None:
    override = sp.LinkOverride("d0", None, bandwidth_mbps=5)
    network = replace(sp.Network("nic"), overrides=(override,))
    cluster = sp.Cluster(sp.Cluster.parse("2x1000").devices, network)
    with pytest.raises(ProblemError, match=r"semantics: giph: network\.overrides of nic links"):
        with_published_semantics(GRAPH, cluster, "giph")


def test_whole_numbers_of_numpy_become_numbers_of_python() -> None:
    three: Any = np.int64(3)
    made = sp.Makespan(batch=three, noise=0.1, repeats=three, seed=three)
    assert made == sp.Makespan(batch=3, noise=0.1, repeats=3, seed=3)
    assert {type(number) for number in (made.batch, made.repeats, made.seed)} == {int}
