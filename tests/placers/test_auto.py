"""Tests for the placer `auto`, compared with the placers that it runs."""

from dataclasses import replace
from pathlib import Path

import pytest

from streamplace import Cluster, Problem, Recipe
from streamplace.errors import CheckpointError
from streamplace.placers.auto import Auto
from streamplace.placers.registry import AUTO_POLICY, AUTO_TRIES, NAMES, make_placer, ready_placer
from streamplace.scoring.throughput import throughput
from tests.support.graphs import chain_graph, preset_graph
from tests.support.long import long_after
from tests.support.paths import ROOT
from tests.support.placers import seeded_rng


@pytest.mark.parametrize("preset", long_after(1, ["dream", "layered"]))
def test_auto_is_never_worse_than_the_placers_it_runs(preset: str) -> None:
    recipe = Recipe(preset, 20, seed=2)
    for number in range(20):
        problem = Problem(recipe.graph(number))
        found = make_placer("auto:evaluations=2000")(problem, seeded_rng())
        best = throughput(problem, found.devices)[0]
        for name in (*AUTO_TRIES, AUTO_POLICY):
            other = throughput(problem, make_placer(name)(problem, seeded_rng()).devices)[0]
            assert best >= other * (0.999 - 1e-9), name


def test_auto_uses_no_more_devices_than_needed() -> None:
    placement = make_placer("auto:evaluations=2000")(Problem(chain_graph(*[1.0] * 8)), seeded_rng())
    assert len(placement.pes) == 1


def test_auto_reports_damaged_weights(tmp_path: Path) -> None:
    """Without the policy the same seed would silently give another result."""
    shipped = next((ROOT / "streamplace/policy/shipped").glob("*.safetensors"))
    data = bytearray(shipped.read_bytes())
    data[-1] ^= 1
    (tmp_path / "damaged.safetensors").write_bytes(data)
    auto = make_placer("auto:evaluations=2000")
    assert isinstance(auto, Auto)
    text = f"policy:file={tmp_path / 'damaged.safetensors'}"
    damaged = replace(auto, policy=lambda: ready_placer(text, "bottleneck"))
    with pytest.raises(CheckpointError, match="damaged"):
        damaged(Problem(Recipe("dream", 40, seed=3).graph(0), model="path-average"), seeded_rng())


def test_auto_runs_only_registered_placers() -> None:
    assert {tried.split(":")[0] for tried in AUTO_TRIES} <= set(NAMES)


def test_auto_places_a_large_graph() -> None:
    graph = preset_graph("layered", 20_000)
    problem = Problem(graph, Cluster.equal(8))
    best = throughput(problem, make_placer("auto")(problem, seeded_rng()).devices)[0]
    assert best >= throughput(problem, make_placer("metis")(problem, seeded_rng()).devices)[0]
