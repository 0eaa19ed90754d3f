"""Shares of instances, against the rates of expanded graphs, and the lowest load by number."""

from typing import Literal

import numpy as np
import pytest

import streamplace as sp
from streamplace.capacity.sizing.shares import EVERY, Shares, lowest_load
from streamplace.problem.counts import expanded
from streamplace.problem.logical import groups_of
from streamplace.problem.parallelism import FLINK, Partitions
from streamplace.problem.problem import Problem
from streamplace.scoring.flow import flow

KINDS = ("", "rebalance", "hash", "forward", "rescale", "broadcast")


def drawn(seed: int) -> tuple[sp.StreamGraph, dict[str, int]]:
    """Return two sources whose streams join, an operator after them, and numbers of instances."""
    rng = np.random.default_rng(seed)
    names = ["a", "b", "join", "last"]
    groups = {name: int(rng.integers(2, 9)) for name in names if rng.random() < 0.5}
    counts = {name: int(rng.integers(1, min(6, groups.get(name, 6)) + 1)) for name in names}
    streams = []
    for source, target in (("a", "join"), ("b", "join"), ("join", "last"), ("a", "last")):
        kind = str(rng.choice(KINDS))
        keys = dict.fromkeys("abcdef"[: int(rng.integers(0, 4))], 0.3) if kind == "hash" else {}
        selectivity = float(rng.choice([0.5, 1.0]))
        stream = sp.Stream(source, target, selectivity, partitioning=kind, key_shares=keys)
        streams.append(stream)
    stated: dict[str, int | Literal["flink"]] = {**groups}
    if seed % 3 == 0:
        stated |= dict.fromkeys({"join", "last"} & groups.keys(), FLINK)
    operators = [sp.Operator(name, 1e3, 1.0, partitions=stated.get(name)) for name in names]
    return sp.StreamGraph(operators, streams, source_rate=100.0), counts


@pytest.mark.parametrize("seed", range(150))
def test_shares_are_lower_bounds_and_exact_where_streams_say_all(seed: int) -> None:
    graph, counts = drawn(seed)
    ones = Problem(expanded(graph, dict.fromkeys(counts, 1)), "1x1000")
    alone = flow(ones).operator_tuples
    several = Problem(expanded(graph, counts), "1x1000")
    rates = flow(several).operator_tuples
    shares = Shares(graph, alone[graph.stream_source] * graph.selectivity)
    kinds = {graph.partitioning.get(e, "") for e in range(len(graph.streams))}
    for v, name in enumerate(graph.names):
        own = [
            rates[i] for i, each in enumerate(several.graph.names) if each.partition("[")[0] == name
        ]
        bound = alone[v] * shares.busiest(v, counts[name])
        assert bound <= max(own) * (1 + 1e-9)
        assert shares.least(v) <= shares.busiest(v, counts[name]) * (1 + 1e-9)
        if not kinds & {"forward", "rescale", "broadcast"}:
            assert bound == pytest.approx(max(own))


def test_keys_and_key_groups_add_up_by_instance() -> None:
    """The key goes to the second instance, and most of the groups to the first."""
    graph = sp.StreamGraph(
        [
            sp.Operator("a", 1.0, 1.0),
            sp.Operator("b", 1.0, 1.0),
            sp.Operator("j", 1.0, 1.0, partitions=3),
        ],
        [
            sp.Stream("a", "j", partitioning="hash", key_shares={"b": 1.0}),
            sp.Stream("b", "j", partitioning="hash"),
        ],
    )
    shares = Shares(graph, np.array([0.4, 0.6]))
    assert shares.busiest(graph.index["j"], 2) == pytest.approx(0.4 + 0.6 / 3)


@pytest.mark.parametrize("stated", [None, 997, 4096, FLINK])
@pytest.mark.parametrize("kappa", [0.0, 1e-5, 0.1])
@pytest.mark.parametrize("least", [1, 7])
def test_the_lowest_load_is_that_of_all_numbers(
    stated: Partitions | None, kappa: float, least: int
) -> None:
    most = stated if isinstance(stated, int) else 3000
    assert most > EVERY

    def load(count: int) -> float:
        groups = groups_of(stated, count)
        share = 1.0 / count if groups is None else -(-groups // count) / groups
        return 5.0 * (1 + 0.01 * (count - 1) + kappa * count * (count - 1)) * share

    every = min(map(load, range(least, most + 1)))
    assert lowest_load(load, least, most, stated) == pytest.approx(every)
