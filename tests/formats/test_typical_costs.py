"""Typical costs by the types of operators: the table, what follows from it, and filled graphs."""

from itertools import pairwise
from math import exp, log, sqrt

import numpy as np
import pytest

import streamplace as sp
from benchmarks.typical_costs import application, left_out, project
from streamplace.errors import UsageError
from streamplace.formats.typical_costs import (
    KINDS,
    LEAST_FIGURES,
    OTHER,
    PRIOR,
    Figure,
    TypicalCosts,
    fill,
    sources,
    type_in_name,
    types_known,
    types_of,
    typical_costs,
)
from streamplace.problem.assumptions import GuessedCosts, guesses
from streamplace.problem.expansion import to_instances
from streamplace.problem.logical import LogicalGraph
from streamplace.problem.operators import UNKNOWN
from streamplace.problem.uncertainty import Uncertainty


def unknown(name: str) -> sp.Operator:
    return sp.Operator(name, UNKNOWN, UNKNOWN)


def chain(*names: str) -> sp.StreamGraph:
    """Return a chain of which nothing is known but the source rate."""
    streams = [sp.Stream(a, b, selectivity=UNKNOWN) for a, b in pairwise(names)]
    return sp.StreamGraph([unknown(name) for name in names], streams, source_rate=100.0)


def test_each_figure_has_a_known_type_and_a_source_that_can_be_found() -> None:
    for source in sources().values():
        assert {"what", "engine", "serialisation", "licence"} <= source.keys()
        assert "github.com/" in source["at"]
        assert "commit" in source["at"]
        for row in source["figures"]:
            assert row["type"] in types_known()
            assert row.keys() & KINDS.keys()
            assert row.keys() <= {"application", "operator", "type", *KINDS}
    assert all(each.value > 0 for each in typical_costs().figures)


def test_derived_figures_are_what_their_sources_say() -> None:
    """Nexmark's q0 and q11, in its own words: cores x seconds of 100 million events."""
    first = {row["application"]: row["cpu_us"] for row in sources()["nexmark-1"]["figures"]}
    assert first["q0"] == pytest.approx(645.087 / 100, rel=1e-3)
    assert first["q11"] == pytest.approx((2518.946 - 645.087) / 100 / 0.92, rel=1e-3)
    [mapper] = sources()["conttune"]["figures"]
    assert mapper["cpu_us"] == pytest.approx(1e6 / 529573.16752, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("GroupAggregate[20]", "keyed aggregate"),
        ("Calc[11]", "map"),
        ("WatermarkAssigner", "map"),
        ("TumblingEventTimeWindows", "window"),
        ("Window(SlidingEventTimeWindows(60000), CountAggregate)", "window"),
        ("Interval Join", "join"),
        ("Flat Map", "flat map"),
        ("flatMap", "flat map"),
        ("SplitSentence", "flat map"),
        ("word-count", "keyed aggregate"),
        ("filter_bots", "filter"),
        ("Q3_Inference", "model inference"),
        ("Sink: Writer", "sink"),  # a committer may follow
        ("KSTREAM-FLATMAP-0000000002", "flat map"),
        ("IBMJoin", "join"),
        ("topicExtractor", OTHER),  # begins with "top", which must be a whole word
        ("account", OTHER),
        ("minute", OTHER),
        ("OP1", OTHER),
        ("", OTHER),
    ],
)
def test_names_say_types(name: str, expected: str) -> None:
    assert type_in_name(name) == expected


def test_streams_and_stated_types_come_before_names() -> None:
    rows = [unknown("join"), unknown("filter"), sp.Operator("x", UNKNOWN, UNKNOWN, type="window")]
    rows += [unknown("map")]
    pairs = (("join", "filter"), ("filter", "x"), ("x", "map"))
    graph = sp.StreamGraph(rows, [sp.Stream(a, b) for a, b in pairs])
    assert dict(zip(graph.names, types_of(graph), strict=True)) == {
        "join": "source",
        "filter": "filter",
        "x": "window",
        "map": "sink",
    }


def test_a_number_of_a_type_follows_from_the_figures() -> None:
    """Three figures of a type, and as many of another, by hand."""
    values = {"map": (1.0, 4.0, 16.0), "filter": (2.0, 2.0, 8.0)}
    costs = TypicalCosts(
        Figure("s", "a", name, "cpu_us", value) for name in values for value in values[name]
    )
    four, inner = log(4.0), log(3.0)  # medians; of 1, 2, 2, 4, 8, 16 it is between 2 and 4
    inner = (log(2.0) + log(4.0)) / 2
    spread = sqrt((3 * four**2) / (6 - 2) * (1 + 1 / 3))
    middle = (3 * four + PRIOR * inner) / (3 + PRIOR)
    found = costs.of("cpu_us", "map")
    assert found.spread == pytest.approx(spread)
    assert found.quantile(0.0) == pytest.approx(exp(middle))
    assert found.mean == pytest.approx(exp(middle + spread**2 / 2))


def test_selectivities_have_the_median_of_the_figures_as_their_mean() -> None:
    rows = [Figure("s", "a", "window", "selectivity", x) for x in (0.5, 1.0, 1.5, 100.0, 1e-9)]
    found = TypicalCosts(rows).of("selectivity", "window")
    assert found.mean == pytest.approx(1.0)
    logs = [log(x) for x in (0.5, 1.0, 1.5, 100.0, 0.01)]  # a smaller one counts as 0.01
    assert found.spread == pytest.approx(sqrt(sum(x * x for x in logs) / 4 * (1 + 1 / 5)))
    assert TypicalCosts(rows).of("selectivity", "map") == (1.0, 0.0)
    assert TypicalCosts(rows).of("selectivity", "source") == (1.0, 0.0)


def test_types_with_few_figures_are_as_any_other_operator() -> None:
    rows = [Figure("s", "a", "window", "cpu_us", x) for x in (1.0, 2.0, 3.0, 9.0)]
    rows += [Figure("t", "b", "join", "cpu_us", 1000.0)] * (LEAST_FIGURES - 1)
    costs = TypicalCosts(rows)
    assert costs.of("cpu_us", "join") == costs.of("cpu_us", OTHER)
    assert costs.of("cpu_us", "window") != costs.of("cpu_us", OTHER)


def test_unknown_costs_are_filled_and_known_ones_stay() -> None:
    rows = [unknown("read"), sp.Operator("parse", 7.0, UNKNOWN), unknown("count"), unknown("out")]
    streams = [sp.Stream("read", "parse", selectivity=UNKNOWN), sp.Stream("parse", "count", 0.3)]
    streams += [sp.Stream("count", "out", selectivity=UNKNOWN)]
    found = fill(sp.StreamGraph(rows, streams, source_rate=5.0))
    graph = found.graph
    assert not graph.unknown
    assert graph.source_rate == 5.0
    row = {each.name: each for each in graph.operators}
    assert (row["parse"].instructions, row["parse"].instructions_se) == (7.0, 0.0)
    typical = typical_costs().of("cpu_us", "keyed aggregate")
    assert row["count"].instructions == pytest.approx(typical.mean * 2500, rel=1e-3)
    assert row["count"].instructions_se == pytest.approx(typical.standard_error * 2500, rel=1e-3)
    by_ends = {(each.source, each.target): each for each in graph.streams}
    assert by_ends["read", "parse"].selectivity == 1.0
    assert by_ends["read", "parse"].selectivity_se == 0.0
    assert by_ends["parse", "count"].selectivity == 0.3
    assert by_ends["count", "out"].selectivity_se > 0
    # 4 instructions, 3 payloads and 3 selectivities, of which 2 were known; a sink sends nothing
    assert GuessedCosts.of(found.graph)[:2] == (8, 10)


def test_draws_have_the_stated_interval() -> None:
    """`Uncertainty` draws what `Typical` states, through the rounded numbers of the graph."""
    graph = fill(chain("read", "window", "out")).graph
    uncertainty = Uncertainty.of(graph)
    factors = uncertainty.factors(uncertainty.normals(np.random.default_rng(1), 20_000))
    v = graph.index["window"]
    drawn = factors.instructions[:, v] * graph.instructions[v] / 2500
    typical = typical_costs().of("cpu_us", "window")
    ends = [typical.quantile(-1.645), typical.quantile(1.645)]
    assert np.quantile(drawn, [0.05, 0.95]) == pytest.approx(ends, rel=0.1)


def test_instances_divide_what_an_instance_before_them_emits() -> None:
    logical = LogicalGraph(chain("read", "window", "out"), parallelism={"window": 2, "out": 3})
    expanded = fill(to_instances(logical)).graph
    before = fill(logical.graph).graph
    shares = before.selectivity.tolist()
    assert expanded.instances["window"] == ["window[0]", "window[1]"]
    for name, share in (("read", shares[0]), ("window[0]", shares[1]), ("window[1]", shares[1])):
        sent = [each for each in expanded.streams if each.source == name]
        assert sum(each.selectivity for each in sent) == pytest.approx(share)
    assert len(Uncertainty.of(expanded)) == len(Uncertainty.of(before))
    whole, parts = fill(logical.graph), fill(to_instances(logical))
    assert GuessedCosts.of(whole.graph) == GuessedCosts.of(parts.graph)


def test_a_graph_that_lacks_nothing_stays() -> None:
    graph = fill(chain("read", "map", "out")).graph
    assert fill(graph).graph == graph


def test_typical_values_are_marked_until_they_are_replaced() -> None:
    graph = fill(chain("read", "window", "out")).graph
    assert graph.typical == {
        0: ("instructions", "payload_bytes"),
        1: ("instructions", "payload_bytes"),
        2: ("instructions",),
    }
    assert graph.typical_streams == {0: ("selectivity",), 1: ("selectivity",)}
    assert guesses(graph) == (
        "7 of 7 costs are typical values (guesses): those of 'read', 'window', 'out'"
    )
    work = graph.instructions.copy()
    work[1] = 5.0
    measured, _ = graph.with_numbers(instructions=work, selectivity=[1.0, 0.25])
    assert measured.typical[1] == ("payload_bytes",)
    assert measured.typical_streams == {0: ("selectivity",)}  # of a source, whose value is 1
    assert GuessedCosts.of(measured).typical == 5
    known, _ = measured.with_numbers(instructions=[7.0] * 3, payload_bytes=[7.0] * 3)
    assert (known.typical, guesses(known.with_numbers(selectivity=[2.0, 2.0])[0])) == ({}, "")
    other_rate, _ = graph.with_numbers(source_rate=7.0)
    assert other_rate.typical == graph.typical


def test_graphs_of_a_single_pass_are_refused() -> None:
    graph = chain("a", "b").with_numbers(firing="all")[0]
    with pytest.raises(UsageError, match="stream jobs"):
        fill(graph)


def test_the_benchmark_leaves_out_what_it_predicts() -> None:
    """Two projects differ by a million, so that no interval by one holds a figure of the other."""
    rows = [Figure("one-1", "a", "map", "cpu_us", x) for x in (1.0, 2.0, 3.0)]
    rows += [Figure("one-2", "b", "map", "cpu_us", x) for x in (1.0, 2.0, 3.0)]
    rows += [Figure("two", "a", "map", "cpu_us", x) for x in (1e6, 2e6, 3e6)]
    held = list(left_out(rows, project, "cpu_us"))
    assert len(held) == 9
    assert not any(each.holds for each in held if project(each.figure) == "two")
    assert not any(each.holds for each in held if project(each.figure) == "one")
    inside = list(left_out(rows[:6], application, "cpu_us"))
    assert all(each.holds for each in inside)
    assert {application(each.figure) for each in inside} == {("one", "a"), ("one", "b")}
