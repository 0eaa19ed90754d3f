"""Tests for the placer `multilevel` on large graphs."""

import numpy as np
import pytest

from streamplace import Cluster, Constraints, Network, Problem, Recipe
from streamplace.placers.registry import make_placer
from streamplace.placers.search.annealing import levels_of
from streamplace.scoring.compiled import compiled
from streamplace.scoring.flow import flow
from streamplace.sim.closed_form.bottleneck import utilisations, worst_utilisation
from tests.support.graphs import preset_graph
from tests.support.placers import seeded_rng

COUNT = 3000


def largest_utilisation(problem: Problem, name: str) -> float:
    return float(
        worst_utilisation(flow(problem), make_placer(name)(problem, seeded_rng()).devices)[0]
    )


def loaded(
    preset: str, cluster: Cluster, constraints: Constraints | None = None, count: int = COUNT
) -> Problem:
    """Return a problem whose CPU work is 0.8 of the cluster's capacity."""
    graph = preset_graph(preset, count, 3)
    at_one = flow(Problem(graph, cluster, source_rate=1.0))
    rate = 0.8 / (at_one.work.sum() / at_one.capacity.sum())
    return Problem(graph, cluster, source_rate=rate, constraints=constraints)


def squeezed(preset: str, cluster: Cluster, count: int = COUNT) -> Problem:
    """Return the problem with a bandwidth at which METIS loads its busiest link to 1.2."""
    problem = loaded(preset, cluster, count=count)
    _, link = utilisations(flow(problem), make_placer("metis")(problem, seeded_rng()).devices)
    slower = Network(cluster.network.kind, bandwidth_mbps=1000.0 * float(link.max()) / 1.2)
    return Problem(problem.graph, Cluster(cluster.devices, slower), source_rate=problem.source_rate)


@pytest.mark.parametrize("preset", ["layered", "series-parallel"])
@pytest.mark.parametrize("devices", ["8x2500", "2x6000,6x1500"])
def test_multilevel_is_much_better_than_metis_on_slow_links(preset: str, devices: str) -> None:
    """METIS reaches a utilisation of 1.2; the CPU alone would allow 0.8."""
    problem = squeezed(preset, Cluster.parse(devices))
    assert largest_utilisation(problem, "multilevel") < 0.9


@pytest.mark.parametrize("count", [1000, 3000])
def test_heavy_streams_of_few_operators_are_not_cut(count: int) -> None:
    """If the first coarsening cuts a heavy stream, others are tried; the CPU allows 0.8."""
    problem = squeezed("series-parallel", Cluster.equal(16), count)
    assert largest_utilisation(problem, "multilevel") < 0.82


def test_groups_respect_a_placement() -> None:
    problem = loaded("layered", Cluster.equal(8))
    on = np.arange(COUNT, dtype=np.int32) * 8 // COUNT
    levels = levels_of(compiled(problem).instance, 0.2, on)
    assert len(levels.instances) > 2
    expanded = levels.up(on)
    for group in levels.groups[::-1]:
        expanded = expanded[group]
    assert (expanded == on).all()


def test_network_interfaces_instead_of_links() -> None:
    cluster = Cluster(Cluster.equal(8).devices, Network("nic"))
    problem = squeezed("layered", cluster)
    assert largest_utilisation(problem, "multilevel") < 0.9 * largest_utilisation(problem, "metis")


def test_constraints_hold_on_every_level() -> None:
    graph = preset_graph("layered", COUNT, 3)
    names = graph.names
    rules = Constraints(
        pins={names[5]: "d7", names[1000]: "d0"},
        allowed={name: ["d1", "d2"] for name in names[200:260]},
        colocate=[names[300:310]],
        exlocate=[names[400:408]],
    )
    problem = loaded("layered", Cluster.equal(8), rules)
    placement = make_placer("multilevel")(problem, seeded_rng())
    assert problem.feasibility.violation(placement.devices) is None


def test_few_operators_need_no_levels() -> None:
    problem = Problem(Recipe("dream", 1, seed=1).graph(0), source_rate=1e4)
    assert largest_utilisation(problem, "multilevel") <= largest_utilisation(problem, "metis")
