"""Families of sharded tensor operations: blocks and inputs, totals, and the released graphs."""

from collections import Counter

import numpy as np
import pytest

from streamplace import Recipe, StreamGraph
from streamplace.errors import UsageError
from tests.support.graphs import flops
from tests.support.paths import ROOT

DOPPLER = ROOT.parent / "shared" / "data" / "doppler"
needs_doppler = pytest.mark.skipif(not DOPPLER.is_dir(), reason="needs ../shared/data/doppler")
SMALL = {
    "chain-mm": "chain-mm:size=60",
    "ffnn": "ffnn:batch=256:width=6:hidden=40",
    "transformer-block": "transformer-block:sequence=24:width=32:heads=8:hidden=40",
    "transformer-layer": "transformer-layer:sequence=24:width=32:heads=8:hidden=40:vocabulary=50",
}
SHARDS = (1, 2, 3, 4, 6, 8, 13)


def sharded(family: str, shards: int = 4) -> StreamGraph:
    """Return the graph of a family."""
    return Recipe(f"{family}:shards={shards}", 1).graph(0)


def released_rows(name: str) -> list[list[str]]:
    """Return the costs and types of the operators of a released graph."""
    return [line.split(",") for line in (DOPPLER / name).read_text().splitlines()[4:] if line]


@pytest.mark.parametrize("shards", SHARDS)
@pytest.mark.parametrize("family", SMALL)
def test_every_operator_has_its_block_and_its_inputs(family: str, shards: int) -> None:
    graph = sharded(SMALL[family], shards)
    assert graph.firing == "all"
    assert (graph.stream_source < graph.stream_target).all()
    count = len(graph.names)
    assert len(graph.type) == len(graph.meta_op) == len(graph.output_shape) == count
    for v, shape in graph.output_shape.items():
        assert graph.payload_bytes[v] == np.empty(shape, dtype=np.float32).nbytes > 0
    assert (graph.stream_payload_bytes > 0).all()
    assert (graph.stream_payload_bytes <= graph.payload_bytes[graph.stream_source]).all()
    of_meta_op = Counter(graph.meta_op.values())
    assert max(of_meta_op.values()) == (shards**2 if family in ("chain-mm", "ffnn") else shards)


@pytest.mark.parametrize("shards", SHARDS)
def test_products_have_the_same_total_for_any_number_of_shards(shards: int) -> None:
    assert flops(sharded(SMALL["chain-mm"], shards), "product") == 3 * 2 * 60**3
    assert flops(sharded(SMALL["ffnn"], shards), "product") == 2 * 2 * 256 * 6 * 40
    projections, attention, fed = 4 * 24 * 32 * 32, 2 * 24 * 24 * 32, 3 * 24 * 32 * 40
    block = 2 * (projections + attention + fed)
    assert flops(sharded(SMALL["transformer-block"], shards), "product") == block
    layer = block + 2 * 32 * 50
    assert flops(sharded(SMALL["transformer-layer"], shards), "product") == layer


@needs_doppler
def test_chain_mm_has_the_structure_of_the_released_graph() -> None:
    graph, rows = sharded("chain-mm"), released_rows("gdp_chain_mm_112nodes.txt")
    assert (len(graph.names), len(graph.streams)) == (len(rows), 80) == (76, 80)
    products = [float(row[0]) for row in rows if float(row[0]) > 1e9]
    assert Counter(graph.type.values())["product"] == len(products) == 48
    # each released shard has the multiplications of its whole product, which has 16 shards
    assert flops(graph, "product") == 2 * sum(products) / 16


@needs_doppler
@pytest.mark.parametrize(
    ("family", "file", "shards"),
    [
        ("ffnn", "ffnn_192nodes.txt", 16),
        ("transformer-block", "gdp_transformer_block_215nodes.txt", 4),
    ],
)
def test_products_have_the_multiplications_of_the_released_graphs(
    family: str, file: str, shards: int
) -> None:
    large = [float(row[0]) for row in released_rows(file) if float(row[0]) > 1e10]
    graph = sharded(family)
    assert Counter(graph.type.values())["product"] == len(large)
    assert flops(graph, "product") == 2 * sum(large) / shards
    assert flops(graph, "product") > 0.95 * graph.instructions.sum()


@pytest.mark.parametrize(
    ("family", "count", "sizes", "message"),
    [
        ("chain-mm", 2, None, "a sharded family has one graph: count must be 1 (got 2)"),
        ("ffnn", 1, range(5, 9), "the number of shards determines the operators; use shards=N"),
        ("chain-mm:shards=65", 1, None, "shards must be 1 to 64 (got 65)"),
        ("chain-mm:size=3", 1, None, "size must be 4 to"),
        ("transformer-block:heads=33", 1, None, "heads must divide the width 4096 (got 33)"),
        ("transformer-layer:vocab=5", 1, None, "unknown option 'vocab'; did you mean 'vocabulary'"),
    ],
)
def test_what_sharded_families_refuse(
    family: str, count: int, sizes: range | None, message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        Recipe(family, count, sizes)
    assert message in str(caught.value)
