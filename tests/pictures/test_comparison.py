"""The distributions of datasets and of a comparison's results."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import image
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from streamplace.pictures.comparison import (
    cumulative,
    distributions,
    draw_effects,
    draw_throughput,
    effects_picture,
    shares_of_devices,
    throughput_picture,
)
from streamplace.workflows.comparison import Comparison
from streamplace.workflows.differences import RelativeThroughput
from tests.support.comparisons import comparison_by_hand, random_comparison, random_makespans
from tests.support.graphs import chain_graph
from tests.support.objectives import Net


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


@pytest.mark.parametrize("found", [random_comparison, random_makespans])
def test_effects_have_whole_names_and_a_mark_at_equality(
    found: Callable[[tuple[str, ...]], Comparison], tmp_path: Path
) -> None:
    name = "policy:file=/runs/of/last/week/policy.safetensors:samples=16"
    effects_picture(tmp_path / "x.svg", found(("the first of all", name, "other")))
    drawn = (tmp_path / "x.svg").read_text()
    assert f"<!-- {name} -->" in drawn
    assert re.search("<!-- .*: (difference to|ratio to that of) the first of all -->", drawn)
    effects_picture(tmp_path / "x.png", found((name, "other")))
    pixels = image.imread(tmp_path / "x.png")[..., :3]
    for edge in (pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]):
        assert (edge == 1.0).all(), "a label is cut"


def test_the_legend_of_several_rates_is_below_the_label(tmp_path: Path) -> None:
    effects_picture(tmp_path / "x.svg", comparison_by_hand())
    texts = re.findall(
        r"<!-- (.*) -->\s*<g [^>]*translate\(\S+ (\S+)\)", (tmp_path / "x.svg").read_text()
    )
    heights = {text: float(y) for text, y in texts}
    assert heights["mean over the graphs, 95% interval"] + 8 < heights["10,000 tuples/s"]


@pytest.mark.parametrize("rates", [(1e4,), (1e4, 2e4)])
def test_the_title_of_a_panel_is_not_cut(rates: tuple[float, ...], tmp_path: Path) -> None:
    names = ("metis", "other")
    found = replace(random_comparison(names, rates), measure=RelativeThroughput(Net(price=500)))
    throughput_picture(tmp_path / "x.png", found)
    pixels = image.imread(tmp_path / "x.png")[..., :3]
    assert (pixels[:, [0, -1]] == 1.0).all()


def test_effects_are_those_of_the_table() -> None:
    """Under HEFT as the second placer, ratios are still to HEFT."""
    found = random_makespans(("a", "heft", "b"))
    axes = Figure().subplots()
    draw_effects(axes, found, 0, [0, 2])
    drawn: dict[object, list[list[float]]] = {}
    for line in axes.lines:
        drawn.setdefault(line.get_marker(), []).append(np.asarray(line.get_xdata()).tolist())
    rows = [found.rows[0], found.rows[2]]
    assert drawn == {
        "|": [[row.over_heft_low, row.over_heft_high] for row in rows],
        "o": [[row.mean_over_heft] for row in rows],
    }
