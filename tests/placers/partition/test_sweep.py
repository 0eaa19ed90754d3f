"""Partitioners with many settings: oracles over numbers of parts, and the sweep of METIS."""

import numpy as np
import pytest

from streamplace import Cluster, Problem, Recipe
from streamplace.errors import PlacementError
from streamplace.placers.partition.metis import Metis
from streamplace.placers.partition.partitioner import Partitioner
from streamplace.placers.partition.sweep import Oracle
from streamplace.placers.registry import make_placer
from streamplace.scoring.throughput import throughput
from streamplace.util.arrays import Ints
from tests.support.graphs import chain_graph
from tests.support.placers import seeded_rng


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
