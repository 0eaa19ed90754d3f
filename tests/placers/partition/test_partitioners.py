"""Fusing of operators, and the oracles over numbers of parts."""

import numpy as np
import pytest

from streamplace import Cluster, Constraints, Operator, Problem, Recipe, Stream, StreamGraph
from streamplace.errors import PlacementError
from streamplace.placers.partition import Fuser, Metis, Oracle, Partitioner, fuse
from streamplace.placers.registry import make_placer
from streamplace.scoring.throughput import throughput
from streamplace.util.arrays import Ints
from tests.support.graphs import chain_graph
from tests.support.placers import seeded_rng

NO_RULES = Constraints()


def test_a_pipeline_is_cut_into_chains_from_its_source() -> None:
    # a opens a chain, which b and c join until it has 6 / 2 = 3 operators; the sink opens the next
    # chain because it is the most prominent operator, and its neighbours e and d join it
    assert fuse(chain_graph(*[1.0] * 6), NO_RULES, 2).tolist() == [0, 0, 0, 1, 1, 1]


def test_the_fuser_counts_operators_not_work_or_bytes() -> None:
    light = fuse(chain_graph(*[1.0] * 6), NO_RULES, 2)
    heavy = fuse(chain_graph(1e9, 1.0, 1.0, 1.0, 1.0, 1.0, payload_bytes=1e9), NO_RULES, 2)
    assert light.tolist() == heavy.tolist()


def test_each_operator_is_alone_with_as_many_pes_as_operators() -> None:
    assert sorted(fuse(chain_graph(*[1.0] * 4), NO_RULES, 4).tolist()) == [0, 1, 2, 3]


def test_a_chain_prefers_operators_that_its_pe_feeds() -> None:
    # target: ceil(7 / 2) = 4 operators. From s the chain takes x, then y (each has one stream from
    # the PE; ties go by the graph's order), then p before z, since p now has two streams from it
    names = ["s", "x", "y", "z", "p", "q", "t"]
    streams = [("s", "x"), ("s", "y"), ("s", "z"), ("x", "p"), ("y", "p"), ("z", "q")]
    streams += [("p", "t"), ("q", "t")]
    graph = StreamGraph(
        [Operator(n, 1.0, 1.0) for n in names], [Stream(a, b) for a, b in streams], source_rate=1.0
    )
    assert fuse(graph, NO_RULES, 2).tolist() == [0, 0, 0, 1, 0, 1, 1]


def test_colocation_and_exlocation_hold_while_pes_fill() -> None:
    graph = chain_graph(*[1.0] * 6)
    rules = Constraints(colocate=[["a", "f"]], exlocate=[["b", "c"]])
    part_of = fuse(graph, rules, 3)
    assert part_of[0] == part_of[5]
    assert part_of[1] != part_of[2]
    placement = Fuser(parts=3)(Problem(graph, constraints=rules), np.random.default_rng(0))
    assert placement.problem.feasibility.violation(placement.devices) is None


@pytest.mark.parametrize("name", ["metis", "metis-recursive", "fuser"])
@pytest.mark.parametrize("model", ["bottleneck", "path-average"])
def test_an_oracle_is_the_best_of_its_numbers_of_parts(name: str, model: str) -> None:
    recipe = Recipe("dream", 40, seed=3)
    for number in range(0, 40, 4):
        problem = Problem(recipe.graph(number), model=model)  # type: ignore[arg-type]
        tried = [
            make_placer(f"{name}:parts={k}")(problem, seeded_rng()).devices for k in range(2, 6)
        ]
        found = make_placer(f"{name}-oracle")(problem, seeded_rng()).devices
        best = throughput(problem, np.stack(tried)).max()
        assert throughput(problem, found)[0] == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("cluster", [Cluster.equal(4), Cluster.parse("2x3000,1x1000")])
def test_the_sweep_is_the_best_of_its_settings(cluster: Cluster) -> None:
    recipe = Recipe("dream", 40, seed=3)
    settings = [
        f"{name}:parts={parts}:imbalance={imbalance}"
        for name in ("metis", "metis-recursive")
        for parts in range(2, len(cluster.devices) + 1)
        for imbalance in (0.01, 0.03, 0.1, 0.3, 1.0)
    ]
    above = 0
    for number in range(0, 40, 8):
        problem = Problem(recipe.graph(number), cluster)
        tried = np.stack([make_placer(s)(problem, seeded_rng()).devices for s in settings])
        found = make_placer("metis-sweep")(problem, seeded_rng()).devices
        reached = throughput(problem, tried)
        assert throughput(problem, found)[0] == pytest.approx(reached.max(), rel=1e-12)
        above += reached.max() > reached[:5].max() * 1.001
    assert above, "more than two parts should pay on some graph"


def test_the_sweep_tries_few_numbers_of_many_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: set[int] = set()

    def noted(of: Metis, problem: Problem, parts: int) -> Ints:
        asked.add(parts)
        return np.arange(len(problem.graph.names), dtype=np.int32) % parts

    monkeypatch.setattr(Metis, "part_of", noted)
    for devices, numbers in ((1, [1]), (3, [2, 3]), (20, [*range(2, 9), 12, 18, 20])):
        asked.clear()
        make_placer("metis-sweep")(
            Problem(chain_graph(*[2e6] * 30), Cluster.equal(devices)), seeded_rng()
        )
        assert sorted(asked) == numbers


def test_an_oracle_on_one_device_uses_it() -> None:
    problem = Problem(chain_graph(1.0, 2.0, 3.0), Cluster.equal(1))
    assert make_placer("metis-oracle")(problem, seeded_rng()).devices.tolist() == [0, 0, 0]


class NeverThree(Partitioner):
    """A partitioner that fails for three parts."""

    def part_of(self, problem: Problem, parts: int) -> Ints:
        if parts == 3:
            raise PlacementError("three is one too many")
        return np.arange(len(problem.graph.names), dtype=np.int32) % parts


def test_an_oracle_skips_a_number_of_parts_that_fails() -> None:
    problem = Problem(chain_graph(*[2e6] * 6))
    assert Oracle(NeverThree())(problem, seeded_rng()).devices.max() + 1 in (2, 4, 5)
    two = Problem(chain_graph(*[2e6] * 6), Cluster.equal(3))
    assert Oracle(NeverThree())(two, seeded_rng()).devices.max() == 1
