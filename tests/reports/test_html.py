"""Tests for the report as a self-contained file, in which names are data."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamplace import Cluster, Operator, Placement, Problem, Stream, StreamGraph, simulate
from streamplace.errors import UsageError
from streamplace.problem.makespan import Makespan
from streamplace.problem.objective import Model
from streamplace.reports.data import data_of, entry, throughput_entry
from streamplace.reports.html import PARTS, SCRIPTS, VENDORED, report_html
from streamplace.reports.schedules import DRAWN, SCHEDULED, ScheduleEntry
from tests.support.graphs import preset_graph

HOSTILE = ("</script><script>alert(1)</script>", "<!--<script>", "&amp;\u2028\u2029", "{{data}}")


class Elements(HTMLParser):
    """Collects elements with their attributes, and the text inside scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.title = ""
        self.inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self.inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside == "script":
            self.scripts[-1] += data
        if self.inside == "title":
            self.title += data


def preset_placement(
    operators: int = 6, model: Model = "bottleneck", rate: float = 5000.0, **options: Any
) -> Placement:
    graph = preset_graph("layered", operators)
    problem = Problem(graph, source_rate=rate, model=model, **options)
    return Placement(problem, np.arange(operators) % 5)


def hostile_placement() -> Placement:
    rows = [Operator(name, 1e5, 0.0) for name in HOSTILE]
    streams = [Stream(a, b) for a, b in pairwise(HOSTILE)]
    graph = StreamGraph(rows, streams, name=HOSTILE[0], source_rate=100.0)
    return Placement(Problem(graph, Cluster.equal(2)), np.zeros(len(rows), dtype=int))


@pytest.fixture(scope="module")
def page() -> str:
    return report_html([entry(HOSTILE[1], hostile_placement(), HOSTILE[0])])


def test_names_appear_only_as_data(page: str) -> None:
    elements = Elements(page)
    kinds = [kind for kind, _ in elements.found]
    assert kinds.count("script") == len(VENDORED) + len(SCRIPTS) + 1
    (data,) = [s for s in elements.scripts if s.startswith("{")]
    assert data.isascii()
    assert not set("<>&") & set(data)
    embedded = json.loads(data)
    assert tuple(row["name"] for row in embedded["graphs"][0]["file"]["operators"]) == HOSTILE
    assert embedded["placements"][0]["title"] == HOSTILE[1]
    assert elements.title.startswith(HOSTILE[0])


def test_the_page_loads_no_other_files(page: str) -> None:
    """No element refers to a file or address, and the policy allows only these scripts."""
    elements = Elements(page)
    embedded = [attributes for _, attributes in elements.found]
    assert [a["href"] for a in embedded if "href" in a] == ["data:,"]
    assert not any(name in a for a in embedded for name in ("src", "srcset", "action", "style"))
    assert "@import" not in page
    assert "sourceMappingURL" not in page
    (policy,) = [a["content"] for a in embedded if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    hashes = re.findall(r"'sha256-([^']+)'", policy)
    run = [script for script in elements.scripts if not script.startswith("{")]
    digests = [hashlib.sha256(script.encode()).digest() for script in run]
    assert hashes == [base64.b64encode(digest).decode() for digest in digests]


def test_licences_are_in_the_page(page: str) -> None:
    assert page.count("Permission is hereby granted, free of charge") >= len(VENDORED)


def test_vendored_files_match_their_recorded_hashes() -> None:
    table = (PARTS / "vendor" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([^`]+)` \|.* `([0-9a-f]{64})` \|$", table, re.MULTILINE)
    assert sorted(name for name, _ in rows) == [f"{name}.min.js" for name in VENDORED]
    for name, digest in rows:
        assert hashlib.sha256((PARTS / "vendor" / name).read_bytes()).hexdigest() == digest


def test_every_script_is_in_the_page() -> None:
    files = {part.name for part in PARTS.iterdir() if part.name.endswith(".js")}
    assert files == {f"{name}.js" for name in SCRIPTS}


def test_a_report_contains_each_graph_once() -> None:
    placement = preset_placement()
    other = Placement(placement.problem, np.zeros(6, dtype=int))
    embedded = data_of([entry("a", placement), entry("b", other), entry("c", hostile_placement())])
    assert [row["graph"] for row in embedded["placements"]] == [0, 0, 1]
    assert len(embedded["graphs"]) == 2


def test_scores_use_the_bottleneck_model() -> None:
    placement = preset_placement(12, "path-average")
    found = throughput_entry("a", placement)
    assert found.own == simulate(placement)
    alike = preset_placement(12)
    assert found.score == simulate(alike) == throughput_entry("a", alike).score
    assert found.score.throughput <= found.bound
    embedded = data_of([found])["placements"][0]
    assert embedded["model"] == "path-average"
    assert embedded["own"]["throughput"] == found.own.throughput


def test_a_proven_bound_is_used_if_it_is_valid() -> None:
    placement = preset_placement(12, rate=1e5)
    score, loose = simulate(placement), throughput_entry("a", placement).bound
    between = (score.throughput + loose) / 2
    assert score.throughput < between < loose
    assert throughput_entry("a", placement, "exact", between).bound == between
    assert throughput_entry("a", placement, "exact", score.throughput).gap == 0
    assert throughput_entry("a", placement, "exact", score.throughput / 2).bound == loose
    assert throughput_entry("a", placement, "exact", 2 * loose).bound == loose
    other = preset_placement(12, "path-average", rate=1e5)
    assert (
        throughput_entry("a", other, "exact", between).bound == loose
    )  # it holds for another model only


def test_a_bound_below_the_rate_holds_at_any_rate() -> None:
    placement = preset_placement(12, rate=1e5)
    without_proof, score = throughput_entry("a", placement), simulate(placement)
    assert without_proof.ceiling == pytest.approx(without_proof.bound)
    between = (score.throughput + without_proof.bound) / 2
    assert throughput_entry("a", placement, "exact", between).ceiling == between
    idle = preset_placement(12, rate=1.0)
    assert throughput_entry("a", idle, "exact", 1.0).bound == 1.0
    assert throughput_entry("a", idle, "exact", 1.0).ceiling == pytest.approx(without_proof.ceiling)


@pytest.mark.parametrize("kind", ["pair", "nic"])
def test_sums_give_the_utilisations(kind: str) -> None:
    """A graph too large to draw is embedded as totals, from which utilisations follow."""
    five = Cluster.equal()
    network = type(five.network)(kind)  # type: ignore[arg-type]
    placement = preset_placement(DRAWN + 1, cluster=Cluster(five.devices, network))
    embedded = data_of([entry("a", placement)])
    row, score = embedded["placements"][0], simulate(placement)
    assert embedded["graphs"][0]["file"] is None
    assert "assignment" not in row
    shares = [work * 5000 / 2.5e9 for work in row["sums"]["work"]]
    assert shares == pytest.approx([load.utilisation for load in score.devices])
    assert row["sums"]["operators"] == [load.operators for load in score.devices]
    links = [bits * 5000 / 1e9 for _, _, bits in row["sums"]["links"]]
    assert links == pytest.approx([load.utilisation for load in score.links])


def test_problems_of_schedules_are_included_once() -> None:
    one, other = preset_placement(12), preset_placement(12)
    aim = Makespan(batch=100, order="any")
    entries = [
        entry(title, Placement(placement.problem.with_objective(objective), placement.devices))
        for title, placement, objective in (
            ("a", one, aim),
            ("b", other, aim),
            ("c", one, Makespan(batch=200)),
        )
    ]
    embedded = data_of([*entries, entry("d", one)])
    assert [row.get("schedule") for row in embedded["placements"]] == [0, 0, 1, None]
    assert [row.get("objective") for row in embedded["placements"]] == [*["makespan"] * 3, None]
    assert [len(one["orders"]) for one in embedded["schedules"]] == [3, 1]


def test_a_proven_bound_on_makespans_is_used_if_it_is_valid() -> None:
    problem = preset_placement(12).problem.with_objective(Makespan(batch=1000))
    placement = Placement(problem, np.arange(12) % 5)
    plain = entry("a", placement)
    assert isinstance(plain, ScheduleEntry)
    makespan, loose = plain.score.makespan_s, plain.bound_s
    between = (makespan + loose) / 2
    assert loose < between < makespan
    proven = {
        stored: data_of([entry("a", placement, "exact", stored)])["placements"][0]["bound_s"]
        for stored in (between, makespan, loose / 2, 2 * makespan)
    }
    assert proven == {between: between, makespan: makespan, loose / 2: loose, 2 * makespan: loose}


def test_a_graph_too_large_for_a_schedule_is_refused() -> None:
    placement = preset_placement(SCHEDULED + 1)
    problem = placement.problem.with_objective(Makespan())
    with pytest.raises(UsageError, match=r"at most 5,000 operators .* use simulate --gantt"):
        entry("a", Placement(problem, placement.devices))


def test_a_page_of_a_large_graph_is_small() -> None:
    small, large = (report_html([entry("a", preset_placement(n))]) for n in (5, 20_000))
    assert len(large) < len(small) + 5_000


def test_parts_are_files_of_the_package() -> None:
    assert Path(str(PARTS)).is_dir()
