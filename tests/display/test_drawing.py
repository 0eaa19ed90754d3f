"""Drawings of graphs and placements in notebooks."""

from xml.etree import ElementTree

import numpy as np

import streamplace as sp
from streamplace.display.drawing import KEYS, MAX_NODES, Drawing


def drawing_of(value: sp.StreamGraph | sp.Placement) -> ElementTree.Element:
    html = value._repr_html_()
    return ElementTree.fromstring(html[html.index("<svg") : html.index("</svg>") + 6])


def diamond() -> sp.StreamGraph:
    ends = [("in", "left"), ("in", "right"), ("left", "out"), ("right", "out"), ("in", "out")]
    operators = [sp.Operator(name, 1e6, 10.0) for name in ("out", "left", "right", "in")]
    return sp.StreamGraph(operators, ends, source_rate=10)


def places(svg: ElementTree.Element) -> dict[str, tuple[float, float]]:
    found = {}
    for text in svg.iter("text"):
        title = text.find("title")
        if title is not None:
            found[str(title.text)] = (float(text.attrib["x"]), float(text.attrib["y"]))
    return found


def test_streams_lead_from_left_to_right() -> None:
    svg = drawing_of(diamond())
    at = places(svg)
    assert at["in"][0] < at["left"][0] == at["right"][0] < at["out"][0]
    assert at["left"][1] != at["right"][1]
    assert len(list(svg.iter("path"))) == 5
    assert len(list(svg.iter("rect"))) == 4
    width, height = float(svg.attrib["width"]), float(svg.attrib["height"])
    assert all(0 < x < width and 0 < y < height for x, y in at.values())
    assert len(set(at.values())) == 4


def test_colours_of_a_placement_are_those_of_its_devices() -> None:
    problem = sp.Problem(diamond(), "5x2500")
    svg = drawing_of(sp.Placement(problem, [0, 3, 0, 3]))
    fills = [rect.attrib["fill"] for rect in svg.iter("rect")]
    assert fills[0] == fills[1] != fills[2]  # in, left, right
    assert fills[2] == fills[3]
    keys = [text.text for text in svg.iter("text") if text.find("title") is None]
    assert keys == ["d0", "d3"]
    assert fills[4:] == [fills[2], fills[0]]


def test_long_names_large_graphs_and_many_devices() -> None:
    count = MAX_NODES + 1
    names = ["x" * 500, *(f"<b&{i}>" for i in range(1, count))]
    ends = np.stack([np.arange(count - 1), np.arange(1, count)], axis=1)
    large = sp.StreamGraph.from_columns(
        names, np.ones(count), np.ones(count), ends, source_rate=1.0
    )
    assert "<svg" not in large._repr_html_()
    ends = ends[: MAX_NODES - 1]
    ones = np.ones(MAX_NODES)
    graph = sp.StreamGraph.from_columns(names[:MAX_NODES], ones, ones, ends, source_rate=1.0)
    problem = sp.Problem(graph, f"{MAX_NODES}x100")
    placed = sp.Placement(problem, np.arange(MAX_NODES))
    assert f"and {MAX_NODES - KEYS} more" in placed._repr_html_()
    drawn = placed._repr_html_().partition("</svg>")[0]
    assert "x" * 100 not in drawn
    assert len(drawn) < 40_000


def test_a_single_node() -> None:
    assert ElementTree.fromstring(Drawing(["a"], [0], []).svg()).tag == "svg"
