"""Oracles, auto and greedy: placers that choose by score."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from streamplace import Cluster, Network, Operator, Placement, Problem, Recipe, Stream, StreamGraph
from streamplace.errors import CheckpointError, PlacementError
from streamplace.placers.auto import Auto
from streamplace.placers.partition.oracle import Oracle
from streamplace.placers.registry import AUTO_POLICY, AUTO_TRIES, NAMES, make_placer, ready_placer
from streamplace.scoring.throughput import throughput
from tests.cli.command import ROOT
from tests.placers.jobs import pipeline


def rng() -> np.random.Generator:
    """Return the generator every placer starts with here."""
    return np.random.default_rng(0)


@pytest.mark.parametrize("name", ["metis", "metis-recursive", "fuser"])
@pytest.mark.parametrize("model", ["bottleneck", "path-average"])
def test_an_oracle_is_the_best_of_its_numbers_of_parts(name: str, model: str) -> None:
    recipe = Recipe("dream", 40, seed=3)
    for number in range(0, 40, 4):
        problem = Problem(recipe.graph(number), model=model)  # type: ignore[arg-type]
        tried = [make_placer(f"{name}:parts={k}")(problem, rng()).devices for k in range(2, 6)]
        found = make_placer(f"{name}-oracle")(problem, rng()).devices
        best = throughput(problem, np.stack(tried)).max()
        assert throughput(problem, found)[0] == pytest.approx(best, rel=1e-12)


def test_an_oracle_on_one_device_uses_it() -> None:
    problem = Problem(pipeline(1.0, 2.0, 3.0), Cluster.equal(1))
    assert make_placer("metis-oracle")(problem, rng()).devices.tolist() == [0, 0, 0]


@pytest.mark.parametrize("preset", ["dream", "layered"])
def test_auto_is_never_worse_than_whom_it_asks(preset: str) -> None:
    recipe = Recipe(preset, 20, seed=2)
    for number in range(20):
        problem = Problem(recipe.graph(number))
        found = make_placer("auto:evaluations=2000")(problem, rng())
        best = throughput(problem, found.devices)[0]
        for name in (*AUTO_TRIES, AUTO_POLICY):
            other = throughput(problem, make_placer(name)(problem, rng()).devices)[0]
            assert best >= other * (0.999 - 1e-9), name


def test_auto_takes_no_more_devices_than_it_needs() -> None:
    placement = make_placer("auto:evaluations=2000")(Problem(pipeline(*[1.0] * 8)), rng())
    assert len(placement.pes) == 1


def test_auto_tells_of_weights_that_are_damaged(tmp_path: Path) -> None:
    """Without the policy the same seed would give another answer, and nobody would know."""
    shipped = next((ROOT / "streamplace/policy/shipped").glob("*.safetensors"))
    data = bytearray(shipped.read_bytes())
    data[-1] ^= 1
    (tmp_path / "damaged.safetensors").write_bytes(data)
    auto = make_placer("auto:evaluations=2000")
    assert isinstance(auto, Auto)
    text = f"policy:file={tmp_path / 'damaged.safetensors'}"
    damaged = replace(auto, policy=lambda: ready_placer(text, "bottleneck"))
    with pytest.raises(CheckpointError, match="damaged"):
        damaged(Problem(Recipe("dream", 40, seed=3).graph(0), model="path-average"), rng())


def test_auto_asks_only_what_exists() -> None:
    assert {tried.split(":")[0] for tried in AUTO_TRIES} <= set(NAMES)


def test_greedy_puts_each_operator_where_the_worst_stays_lowest() -> None:
    # at 1,000 tuples/s on 1,000 MIPS a takes .6, b .5 and c .3 of a device; streams weigh little
    problem = Problem(pipeline(6e5, 5e5, 3e5), Cluster.equal(2, mips=1000.0))
    assert make_placer("greedy")(problem, rng()).devices.tolist() == [0, 1, 1]


@pytest.mark.parametrize("kind", ["pair", "nic"])
def test_greedy_minds_the_links(kind: str) -> None:
    # crossing costs 4 links' worth, sharing a device costs 1.2 devices' worth
    network = Network(kind=kind, bandwidth_mbps=1.0)  # type: ignore[arg-type]
    graph = StreamGraph(
        [Operator("a", 6e5, 500.0), Operator("b", 6e5, 0.0)], [Stream("a", "b")], source_rate=1e3
    )
    problem = Problem(graph, Cluster.equal(2, mips=1000.0, network=network))
    assert make_placer("greedy")(problem, rng()).devices.tolist() == [0, 0]


@dataclass(frozen=True)
class NeverThree:
    """A partitioner that has no answer for three parts."""

    parts: int | None = None

    def with_parts(self, parts: int) -> "NeverThree":
        return replace(self, parts=parts)

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        if self.parts == 3:
            raise PlacementError("three is one too many")
        return Placement(problem, np.arange(len(problem.graph.names)) % (self.parts or 1))


def test_an_oracle_passes_over_a_number_of_parts_without_an_answer() -> None:
    problem = Problem(pipeline(*[2e6] * 6))
    assert Oracle(NeverThree())(problem, rng()).devices.max() + 1 in (2, 4, 5)
    two = Problem(pipeline(*[2e6] * 6), Cluster.equal(3))
    assert Oracle(NeverThree())(two, rng()).devices.max() == 1


def test_auto_answers_for_a_large_graph() -> None:
    graph = Recipe("layered", 1, range(20_000, 20_001)).graph(0)
    problem = Problem(graph, Cluster.equal(8))
    best = throughput(problem, make_placer("auto")(problem, rng()).devices)[0]
    assert best >= throughput(problem, make_placer("metis")(problem, rng()).devices)[0]
