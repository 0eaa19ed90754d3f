"""The distributions of datasets."""

import numpy as np

from streamplace.plots.comparison import distributions
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
