"""Recipes of problems of real sizes: what they promise, and that they never change."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.real_sizes.problems import (
    DEVICES,
    LADDER,
    PER_DEVICE,
    Recipe,
    drawn,
    hard,
    passes,
    smaller,
)
from benchmarks.real_sizes.running import digest
from benchmarks.real_sizes.shapes import FAMILIES
from streamplace.scoring.flow import flow

DIGESTS = {
    "layered": "3c810c5f5d52",
    "series-parallel": "1e5517dd6457",
    "random": "45675b2ffcef",
    "communities": "3e79905324e8",
    "grid": "c7f3ad88255d",
    "tree": "c41c75b5b771",
    "fork-join": "b7621eeb66bc",
    "real": "ddb5ba50e776",
}
RECIPES = [
    Recipe(family, 60, 6, network, 3.0, 1.1, False, 4)
    for family in FAMILIES
    for network in ("nic", "pair")
]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_recipe_makes_the_same_graph_forever(family: str) -> None:
    graph = Recipe(family, 60, 6, "nic", 3.0, 1.1, False, 4).problem().graph
    assert digest(graph) == DIGESTS[family], "stored results are of other problems"
    assert digest(Recipe(family, 60, 6, "nic", 3.0, 1.1, False, 5).problem().graph) != digest(graph)


@pytest.mark.parametrize("recipe", RECIPES, ids=str)
def test_loads_are_those_of_the_recipe(recipe: Recipe) -> None:
    problem = recipe.problem()
    arrays = flow(problem)
    assert 0.8 * 60 <= arrays.operators <= 1.2 * 60
    assert arrays.work.sum() / arrays.capacity.sum() == pytest.approx(1.1)
    links = {"nic": 6, "pair": 6 * 5}[recipe.network]
    bandwidth = problem.cluster.network.bandwidth_mbps
    assert bandwidth is not None
    assert arrays.stream_bits.sum() / (links * bandwidth * 1e6) == pytest.approx(3.0)


def test_the_text_of_a_recipe_is_the_recipe() -> None:
    recipes = [*drawn(40, 1), *hard(20, 2), *passes(20, 3), replace(RECIPES[0], fastest=3)]
    assert [Recipe.of(str(each)) for each in recipes] == recipes


def test_recipes_do_not_depend_on_how_many_are_drawn() -> None:
    recipes = drawn(200, 7)
    assert drawn(30, 7) == recipes[:30]
    assert len(set(recipes)) == 200
    assert not set(recipes) & set(drawn(200, 8))
    assert {each.family for each in recipes[:8]} == set(FAMILIES)
    assert {each.devices for each in recipes} == set(DEVICES)
    assert {(each.network, each.equal, each.load) for each in recipes} == {
        (network, equal, load)
        for network in ("nic", "pair")
        for equal in (False, True)
        for load in (0.8, 1.1)
    }
    assert all(each.operators >= PER_DEVICE * each.devices for each in recipes)


def test_hard_problems_have_many_devices_and_makespans_a_batch() -> None:
    assert all(each.devices >= 16 for each in hard(60, 1))
    some = passes(60, 1)
    assert all(each.batch and each.operators >= 100 and each.devices >= 4 for each in some)
    assert {each.problem().objective.is_pass for each in some[:2]} == {True}


def test_a_smaller_cluster_has_the_fastest_devices_and_the_same_rate_and_bandwidth() -> None:
    recipe = Recipe("random", 60, 12, "pair", 3.0, 0.8, False, 2)
    whole = recipe.problem()
    fewer = smaller(recipe)
    assert [each.fastest for each in fewer] == [k for k in LADDER if k < 12]
    for each in fewer:
        few = each.problem()
        assert few.objective == whole.objective
        assert few.cluster.network == whole.cluster.network
        speeds = sorted((d.mips for d in whole.cluster.devices), reverse=True)[: each.fastest]
        assert sorted((d.mips for d in few.cluster.devices), reverse=True) == speeds


def test_a_tree_has_one_sink_and_few_inputs() -> None:
    graph = Recipe("tree", 300, 4, "nic", 1.0, 0.8, True, 1).problem().graph
    assert len(graph.stream_source) == len(graph.names) - 1
    assert np.bincount(graph.stream_target).max() <= 16
    assert (np.bincount(graph.stream_source, minlength=len(graph.names)) == 0).sum() == 1
