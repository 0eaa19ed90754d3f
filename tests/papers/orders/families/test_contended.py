"""The family of large task graphs on shared links."""

import pytest

from streamplace import Recipe
from streamplace.errors import UsageError
from streamplace.papers.orders.families.contended import KINDS

COUNT = 30


@pytest.mark.parametrize("kind", KINDS)
def test_graphs_have_100_to_1000_operators_on_shared_links(kind: str) -> None:
    recipe = Recipe(f"contended:kind={kind}", COUNT, seed=3)
    clusters = [recipe.cluster(number) for number in range(COUNT)]
    for number in range(0, COUNT, 5):
        assert 100 <= len(recipe.graph(number).names) <= 1_200
    assert {cluster.network.kind for cluster in clusters} == {"pair", "egress"}
    assert {len(cluster.devices) for cluster in clusters} == {4, 8}


def test_a_drawn_kind_gives_the_graph_and_the_cluster_of_that_kind() -> None:
    drawn = Recipe("contended", COUNT, seed=4)
    kinds = set()
    for number in range(COUNT):
        layered = drawn.graph(number).names[0] == "op_0"
        kinds.add(layered)
        assert (drawn.cluster(number).network.bandwidth_mbps == 1.0) == layered
    assert kinds == {False, True}


def test_the_number_of_devices_can_be_set() -> None:
    assert len(Recipe("contended:devices=7", 1, seed=1).cluster(0).devices) == 7


def test_bad_options_are_refused() -> None:
    with pytest.raises(UsageError, match="unknown kind 'rings'"):
        Recipe("contended:kind=rings", 1)
    with pytest.raises(UsageError, match="devices must be 0 to 2048"):
        Recipe("contended:devices=-1", 1)
    with pytest.raises(UsageError, match="determines the number of operators"):
        Recipe("contended", 1, range(10, 20))
