"""Result types in terminals and notebooks."""

import json
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from io import StringIO
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import streamplace as sp
from streamplace.display.drawing import STYLE
from streamplace.display.mixins import Displayable, Tabular, view_of
from streamplace.problem.problem import Problem
from streamplace.workflows.diff import diff
from streamplace.workflows.explain import explain_throughput as explain
from streamplace.workflows.migrate import migrate

HOSTILE = (
    "<script>alert('1')</script>",
    '"><img src=x onerror=alert(1)>',
    "[bold red]x[/bold red]",
    "[/]",
    "\x1b[31mred\x1b[0m\x07",
    "two\nlines\tand\rmore",
    "\u202egnp.exe",
    "straße \U0001f469\u200d\U0001f4bb שלום",
    "y" * 10_000,
    "&amp;",
)


KINDS = (
    "StreamGraph", "Cluster", "Problem", "Placement", "ThroughputScore", "Result", "EngineScore",
    "Comparison", "Plan", "Migration", "Difference", "Explanation",
)  # fmt: skip


def named_chain(names: tuple[str, ...] = ("clicks", "parse", "store")) -> sp.StreamGraph:
    operators = [(name, 9e4, 2_500) for name in names]
    streams = list(pairwise(names))
    return sp.StreamGraph(operators, streams, name=names[0], source_rate=1e4)


PLAIN = ("clicks", "parse", "store")


@cache
def results(names: tuple[str, ...]) -> dict[str, Displayable]:
    """Return one result of each type, with these names."""
    return {type(result).__name__: result for result in _results(names)}


def _results(names: tuple[str, ...]) -> Iterator[Displayable]:
    graph = named_chain(names)
    cluster = sp.Cluster([sp.Device(name, 1500, labels=(names[0],)) for name in names])
    result = sp.place(graph, cluster, placer="round-robin")
    yield from (graph, cluster, result.placement.problem, result.placement)
    yield from (result.score, result, sp.simulate(result, model="engine"))
    placers: Any = dict.fromkeys(names, "random")
    yield sp.compare(graph, placers, cluster=cluster)
    yield sp.compare(graph, placers, cluster=cluster, objective=sp.Makespan())
    yield sp.plan(graph, cluster, evaluations=10)
    fewer = sp.Cluster(cluster.devices[1:])
    migration = migrate(Problem(graph, fewer), result.placement, max_moves=0)
    yield migration
    yield diff(result.placement, migration.result.placement)
    yield explain(result.placement)


def in_terminal(value: object) -> str:
    text = StringIO()
    Console(file=text, width=200, force_terminal=True, color_system="truecolor").print(value)
    return text.getvalue()


DRAWN = {
    "width", "height", "viewbox", "style", "x", "y", "rx", "d", "fill", "stroke", "opacity",
    "text-anchor",
}  # fmt: skip
"""Attributes of drawings, none of which runs code or loads a file."""


class Tags(HTMLParser):
    """The markup that a browser would see, and the text between."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.text: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        names = [name for name, _ in attrs]
        drawn = tag in ("svg", "rect", "path", "text") and set(names) <= DRAWN
        assert drawn or names in ([], ["colspan"], ["style"])
        styles = (None, "text-align:left", "text-align:right")
        assert dict(attrs).get("style") in ((STYLE,) if tag == "svg" else styles)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_reprs_of_results() -> None:
    graph = named_chain()
    result = sp.place(graph, "2x1500", placer="round-robin")
    assert repr(graph) == (
        "<StreamGraph 'clicks': 3 operators, 2 streams, 1 source, 1 sink, 10,000 tuples/s>"
    )
    assert repr(sp.Cluster.parse("3x100,2x50x4,1x7")) == (
        "<Cluster 3x100,2x50x4,1x7: 6 devices, pair links of 1,000 Mbps>"
    )
    assert repr(result.score.bottleneck) == (
        "Bottleneck(kind='device', name='d0', utilisation=1.2)"
    )
    assert repr(result.score) == (
        "<ThroughputScore: 8,333.33 of 10,000 tuples/s (83.3%), bottleneck device 'd0' at 120.0%, "
        "2 of 2 devices used (bottleneck model)>"
    )
    head, *devices, limit = repr(result).split("\n")
    assert head.startswith("<Result: 8,333.33 of 10,000 tuples/s (83.3%), gap 0.0%, by 'round-")
    assert devices == ["  'd0': 'clicks', 'store'", "  'd1': 'parse'"]
    assert limit == "  bottleneck device 'd0' at 120.0%>"
    table = repr(sp.compare(graph, ["single", "metis"], cluster="2x1500")).split("\n")
    assert table[0] == "<Comparison: relative throughput over 1 graph (bottleneck model)"
    assert table[1].split()[:4] == ["placer", "rate", "mean", "Q1"]
    assert table[2].split()[:3] == ["single", "own", "0.556"]


def test_numbers_are_rounded() -> None:
    score = sp.place(named_chain(), "3x1700", placer="round-robin").score
    assert repr(score.devices[0]) == "DeviceLoad(name='d0', utilisation=0.5294, operators=1)"
    assert repr(score.links[0]) == "LinkLoad(source='d0', target='d1', utilisation=0.2)"


@pytest.mark.parametrize("kind", KINDS)
def test_terminals_and_notebooks_show_the_same(kind: str) -> None:
    value = results(PLAIN)[kind]
    shown, html = in_terminal(value), Tags(value._repr_html_())
    kind_of_title = view_of(value).title.split()[0]
    assert kind_of_title in shown
    assert kind_of_title in "".join(html.text)
    cells = [word for text in html.text for word in text.split()]
    plainly = " ".join(shown.split())
    assert [cell for cell in cells if cell not in plainly] == []  # both show the same
    assert {"table", "tr", "td", "bdi"} <= set(html.tags)


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_names_stay_text(kind: str) -> None:
    value = results(HOSTILE)[kind]
    html = Tags(value._repr_html_())
    known = {"div", "p", "table", "thead", "tbody", "tr", "th", "td", "bdi"}
    known |= {"svg", "path", "rect", "text", "title"}
    assert set(html.tags) <= known
    described = str(view_of(value))
    assert repr(value) == f"<{described}>"
    for shown in (described, in_terminal(value), "".join(html.text)):
        assert "\x1b[31m" not in shown
        assert "\x07" not in shown
        assert "\u202e" not in shown
        assert "y" * 100 not in shown
        assert len(shown) < 40_000
    assert "[bold red]" in in_terminal(value) or "[bold red]" not in "".join(html.text)


def test_size_is_bounded() -> None:
    count = 200_000
    names = [f"operator-{i}" for i in range(count)]
    ends = np.stack([np.arange(count - 1), np.arange(1, count)], axis=1)
    graph = sp.StreamGraph.from_columns(
        names, np.ones(count), np.ones(count), ends, source_rate=1.0
    )
    problem = sp.Problem(graph, "2000x1000")
    placement = sp.Placement(problem, np.arange(count) % 2000)
    for value in (graph, problem, placement, sp.simulate(placement)):
        assert len(repr(value)) < 600
        assert len(in_terminal(value)) < 12_000
        assert len(value._repr_html_()) < 16_000
    assert "and 199,988 more" in in_terminal(graph)


@cache
def records() -> dict[str, list[dict[str, Any]]]:
    """Return the records of each kind of result with a table."""
    tables = {kind: each for kind, each in results(PLAIN).items() if isinstance(each, Tabular)}
    return {kind: table.to_records() for kind, table in tables.items()}


def test_records_of_tables_are_plain_values() -> None:
    kinds = ("Placement", "ThroughputScore", "Result", "EngineScore", "Comparison")
    assert {*records()} == {*kinds, "Plan", "Difference"}
    assert json.loads(json.dumps(records())) == records()
    assert [each["operator"] for each in records()["Result"]] == list(PLAIN)
    assert records()["ThroughputScore"][0].keys() == {"name", "utilisation", "operators"}
    assert records()["Plan"][0]["devices"] == 1


def test_frames_have_the_columns_of_records() -> None:
    pytest.importorskip("pandas")
    for kind, rows in records().items():
        table = results(PLAIN)[kind]
        assert isinstance(table, Tabular)
        assert len(table.to_frame()) == len(rows)
        assert [*table.to_frame().columns] == [*(rows[0] if rows else ())]
