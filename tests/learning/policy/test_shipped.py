"""The shipped weights on training-like graphs, large graphs, and networks of NICs."""

import pytest

from streamplace import Cluster, Network, Recipe, compare
from streamplace.problem.objective import Model


@pytest.mark.parametrize(
    ("preset", "operators", "count", "network", "model", "minimum"),
    [
        ("dream", None, 40, "pair", "path-average", 0.9),
        ("dream", None, 40, "pair", "bottleneck", 0.88),
        ("layered", 1000, 3, "pair", "bottleneck", 0.92),
        ("series-parallel", 1000, 3, "pair", "bottleneck", 0.79),
        ("layered", 100, 5, "nic", "bottleneck", 0.75),
    ],
    ids=["dream, path-average", "dream", "large layered", "large series-parallel", "nics"],
)
def test_the_shipped_weights(
    preset: str, operators: int | None, count: int, network: str, model: Model, minimum: float
) -> None:
    """Current values are 0.913, 0.896, 0.947, 0.812 and 0.774; bad weights once gave 0.3."""
    sizes = None if operators is None else range(operators, operators + 1)
    recipe = Recipe(preset, count, sizes, 9_000)
    cluster = Cluster(Cluster.equal(5).devices, Network("nic" if network == "nic" else "pair"))
    graphs = [recipe.graph(i) for i in range(count)]
    found = compare(graphs, ["policy"], [1e4], cluster=cluster, model=model, jobs=1)
    assert found.values.mean() > minimum
