"""Placement files, which hold the problem."""

import csv
import io
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from benchmarks.reference.strategies import Case, cases
from streamplace.errors import FormatError, OtherGraphError
from streamplace.files import (
    placements,
    read_graph,
    read_placement,
    write_dataset,
    write_placement,
)
from streamplace.files.graphs import graph_from, graph_to
from streamplace.files.placements import (
    as_csv,
    placement_from,
    placement_to,
    proven_bound,
    referring_assignment,
)
from streamplace.files.schema import PlacementForm
from streamplace.files.summary import summary
from streamplace.problem.cluster import Cluster
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import Operator, StreamGraph
from streamplace.problem.makespan import Makespan
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.throughput import simulate
from tests.corpus.documents import CEPSIM, GRAPH
from tests.support.errors import fault_of, result_or_error
from tests.support.strategies import altered_json

LINE = {k: v for k, v in GRAPH.items() if k not in ("constraints", "source_shares")}


LINE["operators"] = [{"name": name, "instructions": 1e3} for name in "abc"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("placements")


@given(case=cases())
def test_round_trip_with_the_whole_problem(case: Case, folder: Path) -> None:
    problem, devices = case
    placement = Placement(problem, devices)
    write_placement(folder / "p.json", placement, placer="x", gap=0.5)
    again = read_placement(folder / "p.json")
    assert again == placement
    assert again.problem.graph == problem.graph
    assert again.problem.cluster == problem.cluster
    assert again.problem.source_rate == problem.source_rate
    assert simulate(again) == simulate(placement)
    PlacementForm.model_validate(json.loads((folder / "p.json").read_text()))


@pytest.mark.parametrize(
    "constraints",
    [
        Constraints(pins={"a": "d1"}),
        Constraints(colocate=[["a", "b"]]),
        Constraints(exlocate=[["a", "c"]]),
        Constraints(allowed={"c": ["d0", "d1"]}),
    ],
    ids=["pins", "colocate", "exlocate", "allowed"],
)
def test_constraints_are_kept_with_the_placement(constraints: Constraints, folder: Path) -> None:
    problem = Problem(graph_from(LINE, "x"), constraints=constraints)
    write_placement(folder / "p.json", Placement(problem, [1, 1, 0]))
    again = read_placement(folder / "p.json").problem
    for devices in ([1, 1, 0], [0, 1, 1], [2, 2, 2]):
        kept, expected = (
            p.feasibility.violation(Placement(p, devices).devices) for p in (again, problem)
        )
        assert kept == expected


def test_dropped_constraints_stay_dropped(folder: Path) -> None:
    """A problem may drop the constraints of its graph, which its file must record."""
    pinned = graph_from({**LINE, "constraints": {"pins": {"a": "d1"}}}, "x")
    free = Problem(pinned, constraints=Constraints())
    write_placement(folder / "p.json", Placement(free, [0, 0, 0]))
    again = read_placement(folder / "p.json")
    assert again.problem.feasibility.violation(again.devices) is None


def test_arguments_override_the_file(folder: Path) -> None:
    problem = Problem(graph_from(LINE, "x"))
    write_placement(folder / "p.json", Placement(problem, [0, 1, 2]))
    cluster = Cluster.equal(3, 7.0)
    problem = read_placement(
        folder / "p.json", cluster=cluster, source_rate=5.0, model="path-average"
    ).problem
    assert (problem.cluster, problem.source_rate, problem.model) == (cluster, 5.0, "path-average")


def test_source_rates_and_target_utilisation_are_read_and_overridden(folder: Path) -> None:
    """Files leave both out if they are at their default."""
    graph = graph_from(LINE, "x")
    plain = placement_to(Placement(Problem(graph), [0, 1, 2]))
    assert not {"source_rates", "target_utilisation"} & set(plain["problem"])
    problem = Problem(graph, source_rate=[5, 9], target_utilisation=0.7)
    write_placement(folder / "p.json", Placement(problem, [0, 1, 2]))
    PlacementForm.model_validate(json.loads((folder / "p.json").read_text()))
    again = read_placement(folder / "p.json").problem
    assert (again.source_rates, again.target_utilisation) == ((9.0, 5.0), 0.7)
    problem = read_placement(folder / "p.json", source_rate=3, target_utilisation=1).problem
    assert (problem.source_rates, problem.target_utilisation) == ((3.0,), 1.0)
    cepsim_file = folder / "c.json"
    cepsim_file.write_text(json.dumps({"placements": [{"idx": 0, "ops": [0, 1, 2]}]}))
    foreign = read_placement(cepsim_file, graph=graph, source_rate=(3, 4), target_utilisation=0.5)
    assert (foreign.problem.source_rates, foreign.problem.target_utilisation) == ((4, 3), 0.5)


def test_the_graph_must_be_the_same_except_for_its_name(folder: Path) -> None:
    write_placement(folder / "p.json", Placement(Problem(graph_from(LINE, "x")), [0, 1, 2]))
    renamed = graph_from({**LINE, "name": "other"}, "x")
    assert read_placement(folder / "p.json", graph=renamed).problem.graph is renamed
    heavier = [{"name": name, "instructions": 2e3} for name in "abc"]
    other = graph_from({**LINE, "name": "other", "operators": heavier}, "x")
    with pytest.raises(FormatError, match=r"another graph: 'line', not 'other'"):
        read_placement(folder / "p.json", graph=other)


HEAVIER = {**LINE, "operators": [{"name": name, "instructions": 2e3} for name in "abc"]}


PINNED = {"pins": {"a": "d1"}}


def test_a_placement_of_other_numbers_is_read_by_name() -> None:
    """What the file has from its own graph is taken from the other one; the rest is kept."""
    own = graph_from({**LINE, "source_rate": 7.0, "constraints": PINNED}, "x")
    other = graph_from({**HEAVIER, "source_rate": 9.0}, "x")
    read = partial(placement_from, where="x", graph=other, by_name=True)
    found = read(placement_to(Placement(Problem(own), [1, 1, 0])))
    assert (found.problem.graph, found.devices.tolist()) == (other, [1, 1, 0])
    assert (found.problem.source_rate, found.problem.constraints) == (9.0, Constraints())
    apart = Constraints(exlocate=[["b", "c"]])
    set_apart = placement_to(
        Placement(Problem(own, source_rate=3.0, constraints=apart), [1, 1, 0]).of_job("j")
    )
    found = read(set_apart)
    assert (found.problem.source_rate, found.problem.constraints) == (3.0, apart)
    assert found.job == "j"
    assert read(set_apart, source_rate=7.0).problem.source_rate == 7.0
    without_rate = graph_from({**graph_to(other), "source_rate": None}, "x")
    found = read(placement_to(Placement(Problem(own), [1, 1, 0])), graph=without_rate)
    assert found.problem.source_rate == 7.0
    fewer = graph_from({**LINE, "operators": LINE["operators"][:2], "streams": []}, "x")
    with pytest.raises(OtherGraphError):
        read(set_apart, graph=fewer)
    same = read(set_apart, graph=own)
    assert same.problem.source_rate == 3.0


def test_the_bound_of_a_proof_holds_for_its_own_problem_only() -> None:
    problem = Problem(graph_from(LINE, "x"), objective=Makespan())
    value = placement_to(Placement(problem, [0, 1, 2]), bound=0.25)
    assert proven_bound(value, problem) == 0.25
    heavier = graph_from(HEAVIER, "x")
    for other in (
        Problem(heavier, objective=Makespan()),
        Problem(problem.graph, Cluster.equal(5, 7.0), objective=Makespan()),
        Problem(problem.graph, objective=Makespan(order="b-level")),
        problem.with_constraints(Constraints(pins={"a": "d1"})),
        Problem(problem.graph),
    ):
        assert proven_bound(value, other) is None
    assert proven_bound(placement_to(Placement(problem, [0, 1, 2])), problem) is None
    assert proven_bound([value], problem) is None


def test_the_bound_of_a_proof_holds_for_its_source_rate_only() -> None:
    problem = Problem(graph_from(LINE, "x"), source_rate=3.0)
    value = placement_to(Placement(problem, [0, 1, 2]), bound=2.5)
    assert proven_bound(value, problem) == 2.5
    assert proven_bound(value, Problem(problem.graph, source_rate=4.0)) is None


def test_cepsim_reads_what_its_runner_writes(folder: Path) -> None:
    """CEPSim lists devices in any order, some without operators, with more fields."""
    rows = [{"idx": 3, "ops": [2]}, {"idx": 0, "ops": []}, {"idx": 1, "ops": [1, 0], "vm": "x"}]
    (folder / "c.json").write_text(json.dumps({"placements": rows, "by": "someone"}))
    placement = read_placement(folder / "c.json", graph=graph_from(LINE, "x"))
    assert placement.devices.tolist() == [1, 1, 3]
    assert placement.problem.cluster == Cluster.equal()
    assert placement.problem.model == "bottleneck"


@given(cases())
def test_placements_as_csv(case: Case) -> None:
    placement = Placement(*case)
    rows = [line.split(",") for line in as_csv(placement).splitlines()]
    assert rows[0] == ["operator", "device"]
    assert dict(rows[1:]) == placement.assignment


STORED = placement_to(
    Placement(Problem(graph_from(LINE, "x"), Cluster.equal(2)), [0, 1, 1]), placer="x", bound=1.0
)


@given(altered_json(STORED))
def test_an_altered_placement_is_valid_or_refused_in_one_line(folder: Path, value: Any) -> None:
    check_altered(folder / "altered.json", value)


@given(altered_json(CEPSIM))
def test_an_altered_cepsim_placement_is_valid_or_refused_in_one_line(
    folder: Path, value: Any
) -> None:
    check_altered(folder / "altered.json", value)


def check_altered(path: Path, value: Any) -> None:
    """Read an altered placement of LINE, and check the error."""
    path.write_text(json.dumps(value))
    own = "assignment" in value
    graph = None if own else graph_from(LINE, "x")
    placement, message = result_or_error(lambda: read_placement(path, graph=graph))
    if placement is None:
        fault_of(message, path)
    else:
        assert len(placement.devices) == 3


def test_a_placement_of_another_cluster_is_refused(folder: Path) -> None:
    write_placement(folder / "p.json", Placement(Problem(graph_from(LINE, "x")), [0, 1, 4]))
    with pytest.raises(FormatError, match=r"p\.json: assignment\['c'\]: .* no device 'd4'"):
        read_placement(folder / "p.json", cluster=Cluster.equal(2))


def test_csv_quotes_names_with_line_ends() -> None:
    """A carriage return ends a line of CSV, so a name with one is quoted."""
    names = ["a\rb", "c\nd", "e\r\nf", 'g"h', "i,j", "k"]
    graph = StreamGraph([Operator(name, 1.0, 0.0) for name in names], [], source_rate=1.0)
    text = as_csv(Placement(Problem(graph, Cluster.equal(1)), [0] * len(names)))
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert rows == [["operator", "device"], *([name, "d0"] for name in names)]
    assert text.endswith("\nk,d0\n")


def test_the_job_of_a_placement_is_kept(tmp_path: Path) -> None:
    placement = Placement(Problem(graph_from(LINE, "x")), [0, 1, 4], job="clicks")
    write_placement(tmp_path / "p.json", placement)
    assert json.loads((tmp_path / "p.json").read_text())["job"] == "clicks"
    again = read_placement(tmp_path / "p.json")
    assert again.job == again.canonical().job == "clicks"
    assert "job" not in placement_to(placement.of_job(""))


def test_an_assignment_without_its_field_is_explained(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text('{"a": "d0"}')
    expected = r'or {"assignment": {"OPERATOR": "DEVICE"}} is enough beside its graph$'
    with pytest.raises(FormatError, match=expected):
        read_placement(tmp_path / "p.json")


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Placement:
    """Return a placement whose graph is in a file, and too large to be embedded."""
    monkeypatch.setattr(placements, "EMBEDDED", 2)
    write_dataset(tmp_path / "g.npz", [graph_from(LINE, "x")])
    (tmp_path / "placed").mkdir()
    placement = Placement(Problem(read_graph(tmp_path / "g.npz")), [0, 1, 4])
    write_placement(tmp_path / "placed" / "p.json", placement, placer="x")
    return placement


def test_a_large_graph_stays_in_its_file(beside: Placement, tmp_path: Path) -> None:
    file = tmp_path / "placed" / "p.json"
    graph = beside.problem.graph
    problem = json.loads(file.read_text())["problem"]
    assert problem["graph"] == {"path": "../g.npz", "sha256": graph.sha256}
    assert "graph_sha256" not in problem
    again = read_placement(file)
    assert placement_to(again) == placement_to(beside)
    assert summary(file)["graph"]["sha256"] == graph.sha256
    form = PlacementForm.model_validate(json.loads(file.read_text()))
    assert form.problem.graph_sha256 == graph.sha256
    (tmp_path / "placed").rename(tmp_path / "moved")
    assert read_placement(tmp_path / "moved" / "p.json") == beside


def test_a_large_graph_without_a_file_is_embedded(
    beside: Placement, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_placement(tmp_path / "q.json", Placement(Problem(graph_from(LINE, "x")), [0, 1, 4]))
    assert "operators" in json.loads((tmp_path / "q.json").read_text())["problem"]["graph"]
    changed, _ = beside.problem.graph.with_numbers(source_rate=7.0)
    assert changed.file is None
    monkeypatch.setattr(placements, "EMBEDDED", 3)
    write_placement(tmp_path / "q.json", beside)
    assert "operators" in json.loads((tmp_path / "q.json").read_text())["problem"]["graph"]


def test_instances_of_a_graph_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file has the operators, and the placement is of their instances."""
    monkeypatch.setattr(placements, "EMBEDDED", 2)
    row = {"name": "a", "instructions": 1.0, "payload_bytes": 0.0, "parallelism": 3}
    write_dataset(tmp_path / "g.json", [graph_from({"operators": [row], "source_rate": 1.0}, "x")])
    placement = Placement(Problem(read_graph(tmp_path / "g.json")), [0, 1, 4])
    write_placement(tmp_path / "p.json", placement)
    assert "path" in json.loads((tmp_path / "p.json").read_text())["problem"]["graph"]
    assert read_placement(tmp_path / "p.json").assignment == placement.assignment


def test_a_missing_or_changed_graph_is_named(beside: Placement, tmp_path: Path) -> None:
    file = tmp_path / "placed" / "p.json"
    (tmp_path / "g.npz").unlink()
    with pytest.raises(FormatError, match=r"p\.json: problem\.graph: .*g\.npz: no such file"):
        read_placement(file)
    assert read_placement(file, graph=beside.problem.graph) == beside
    other = graph_from({**LINE, "name": "other", "source_rate": 1.0, "firing": "all"}, "")
    write_dataset(tmp_path / "g.npz", [other])
    with pytest.raises(FormatError, match=r"p\.json: problem\.graph: .*g\.npz has changed since"):
        read_placement(file)
    with pytest.raises(OtherGraphError, match=r"another graph: that of .*g\.npz"):
        read_placement(file, graph=other)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ({"path": "", "sha256": ""}, r"problem\.graph\.path: must not be empty"),
        ({"path": 3, "sha256": ""}, r"problem\.graph\.path: must be a string"),
        ({"path": "-", "sha256": ""}, r"problem\.graph\.path: must be the path of a file"),
        ({"path": "g.npz"}, r"problem\.graph: missing field 'sha256'"),
        (
            {"path": "g.npz", "sha256": "", "operators": []},
            r"problem\.graph: unknown field 'operators'$",
        ),
        ({"path": "/dev/null", "sha256": ""}, r"problem\.graph: /dev/null: "),
        (
            {"operators": [{"name": "a", "instructions": -1}]},
            r"problem\.graph\.operators\[0\]\.instructions: must be at",
        ),
        ([], r"problem\.graph: must be an object"),
    ],
)
def test_bad_references(graph: Any, message: str, beside: Placement, tmp_path: Path) -> None:
    value = placement_to(beside)
    value["problem"] |= {"graph": graph}
    (tmp_path / "bad.json").write_text(json.dumps(value))
    with pytest.raises(FormatError, match=rf"bad\.json: {message}"):
        read_placement(tmp_path / "bad.json")


def test_an_embedded_graph_needs_its_hash(beside: Placement, tmp_path: Path) -> None:
    value = placement_to(beside)
    del value["problem"]["graph_sha256"]
    (tmp_path / "bad.json").write_text(json.dumps(value))
    with pytest.raises(FormatError, match=r"bad\.json: problem: missing field 'graph_sha256'"):
        read_placement(tmp_path / "bad.json")


def test_csv_of_a_large_placement_needs_no_graph(beside: Placement, tmp_path: Path) -> None:
    value = json.loads((tmp_path / "placed" / "p.json").read_text())
    (tmp_path / "g.npz").unlink()
    assert referring_assignment(value, "p.json") == beside.assignment
    assert referring_assignment(placement_to(beside), "p.json") is None
    value["assignment"]["a"] = "d9"
    with pytest.raises(FormatError, match=r"p\.json: assignment: the cluster has no device 'd9'"):
        referring_assignment(value, "p.json")
