"""The distributions of datasets and of a comparison's results."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from streamplace.pictures.comparison import (
    cumulative,
    distributions,
    draw_throughput,
    shares_of_devices,
)
from tests.support.graphs import chain_graph


def test_distributions_by_hand() -> None:
    """2,500 MIPS process 1e6 instructions per tuple of 1,000 tuples/s in two fifths of the time."""
    graph = chain_graph(1e6, 5e5, 0.0, payload_bytes=70.0)
    sizes, utilisations, payloads = distributions([graph, graph])
    assert sizes.tolist() == [3.0, 3.0]
    np.testing.assert_allclose(utilisations, [0.4, 0.2, 0.0] * 2)
    assert payloads.tolist() == [70.0, 70.0] * 2


def test_a_graph_without_streams_has_no_payload() -> None:
    assert distributions([chain_graph(1e6)])[2].tolist() == [0.0]


def test_a_distribution_by_hand() -> None:
    x, share = cumulative(np.array([0.5, 0.2, 0.5, 1.0]))
    assert x.tolist() == [0.2, 0.5, 1.0]
    assert share.tolist() == [0.25, 0.75, 1.0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_a_distribution_counts_values_at_most_as_large(values: list[float]) -> None:
    x, share = cumulative(np.array(values))
    assert np.all(np.diff(x) > 0)
    for at, y in zip(x, share, strict=True):
        assert y == sum(value <= at for value in values) / len(values)


def test_only_values_have_markers() -> None:
    """A line begins at 0, which is no value, and ends at a share of 1."""
    reached = np.array([[0.5, 0.8], [0.2, 0.9], [0.7, 0.7], [0.6, 1.0], [0.1, 0.3]])
    drawn = draw_throughput(Figure().subplots(), reached)
    marked = [line.get_markevery() for line in drawn if isinstance(line, Line2D)]
    assert marked == [[1, 2], [1, 2], [1], [1, 2], [1, 2]]


def test_devices_by_hand() -> None:
    used = np.array([[1, 2, 2, 5], [3, 3, 3, 3]], dtype=np.float64)
    expected = [[0.25, 0.5, 0, 0, 0.25], [0, 0, 1, 0, 0]]
    assert shares_of_devices(used).tolist() == expected
