"""Functions and objects as placers, and the checks of what they return."""

from pathlib import Path

import numpy as np
import pytest

import streamplace as sp
from streamplace.errors import CustomPlacerError, ObjectiveError, UsageError
from streamplace.files import write_dataset
from streamplace.placers.base import THROUGHPUT, Found, Placer, ReportingPlacer
from streamplace.placers.limits import MaxEvaluations
from streamplace.placers.registry import ready
from streamplace.scoring.flow import flow
from tests.support.cli import Capture, refused
from tests.support.placements import solve


def small_graph() -> sp.StreamGraph:
    return sp.StreamGraph([("a", 1e5, 10), ("b", 1e5, 0)], [("a", "b")], source_rate=100)


def on_first(problem: sp.Problem, rng: object, start: object = None) -> sp.Placement:
    """Place everything on the first device."""
    return sp.Placement(problem, [0] * len(problem.graph.names))


def on_another(problem: sp.Problem, rng: object, start: object = None) -> sp.Placement:
    """Return a placement of another problem."""
    return on_first(sp.Problem(problem.graph, "2x10"), rng)


def as_text(problem: sp.Problem, rng: object, start: object = None) -> str:
    """Return something that is not a placement."""
    return "d0"


def test_a_function_is_a_placer() -> None:
    found = sp.place(small_graph(), placer=on_first)
    assert found.placer == "on_first"
    assert found.score.devices_used == 1
    rows = sp.compare([small_graph()] * 70, {"one": on_first, "all": "round-robin"}, jobs=2).rows
    assert [(row.placer, row.mean_devices) for row in rows] == [("one", 1), ("all", 2)]
    assert [row.placer for row in sp.compare(small_graph(), [on_first, "random"]).rows] == [
        "on_first", "random",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("placer", "message"),
    [
        (as_text, r"'as_text' must return a Placement \(got str\)"),
        (on_another, "'on_another' returned a placement of another problem"),
    ],
)
def test_the_result_is_checked(placer: Placer, message: str) -> None:
    with pytest.raises(CustomPlacerError, match=message):
        sp.place(small_graph(), placer=placer)
    with pytest.raises(CustomPlacerError, match=message):
        sp.compare(small_graph(), placer)


class Reporting(ReportingPlacer):
    """A placer without a name that is no dataclass, under throughput only."""

    objectives = THROUGHPUT

    def __init__(self, samples: int = 1) -> None:
        self.samples = samples

    def run(self, problem: sp.Problem, rng: object, start: object = None) -> Found:
        """Return the first device for everything, and a bound that no placement exceeds."""
        return Found(on_first(problem, rng), bound=12_500.0)


def test_a_placer_that_reports_needs_neither_a_name_nor_a_dataclass() -> None:
    found = sp.place(small_graph(), placer=Reporting())
    assert (found.placer, found.bound) == ("Reporting", 100.0)
    named = ready(f"{__name__}:Reporting")
    assert named.limited(MaxEvaluations(3)).text == f"{named.text}:samples=3"
    with pytest.raises(ObjectiveError, match="placer 'Reporting' supports only throughput"):
        sp.place(small_graph(), placer=Reporting(), objective=sp.Makespan())


def failing(problem: sp.Problem, rng: object, start: object = None) -> sp.Placement:
    raise KeyError("a fault")


@pytest.mark.parametrize("order", [[1, 0, 2], [0, 1], [0, 1, 1], [0, 1, 3]])
def test_an_order_that_no_schedule_has_is_refused(order: list[int]) -> None:
    class Planning(ReportingPlacer):
        """A placer that plans a schedule on the first device."""

        def run(self, problem: sp.Problem, rng: object, start: object = None) -> Found:
            """Return the first device for everything, and an order."""
            return Found(on_first(problem, rng), own_order=np.array(order))

    graph = sp.StreamGraph([(n, 1e6, 0.0) for n in "abc"], [("a", "b"), ("b", "c")])
    objective = sp.Makespan()
    with pytest.raises(CustomPlacerError, match="own_order must have every operator's index once"):
        sp.place(graph, "1x1", objective=objective, placer=Planning())
    order[:] = [0, 1, 2]
    assert sp.place(graph, "1x1", objective=objective, placer=Planning()).own_schedule_s == 3.0


def test_the_error_of_an_object_keeps_its_traceback() -> None:
    with pytest.raises(KeyError, match="a fault"):
        sp.place(small_graph(), placer=failing)


def failing_on_third(problem: sp.Problem, rng: object, start: object = None) -> sp.Placement:
    if problem.graph.name == "layered_2":
        raise KeyError("a fault")
    return on_first(problem, rng)


@pytest.mark.parametrize("objective", ["throughput", "makespan"])
def test_a_fault_in_a_comparison_names_file_graph_and_placer(
    objective: str, tmp_path: Path, capsys: Capture
) -> None:
    path, recipe = tmp_path / "graphs.jsonl", sp.Recipe("layered", 4, range(6, 9))
    write_dataset(path, [recipe.graph(number) for number in range(4)])
    name = f"{__name__}:failing_on_third"
    words = ["compare", path, "--placers", f"single,{name}", "--objective", objective]
    line = refused(capsys, *words, "--jobs", "1")
    fault = f"placer {name!r}: placing failed: KeyError: 'a fault'"
    assert line == f"streamplace: {path}: layered_2: {fault}"


def printing(problem: sp.Problem, rng: object, start: object = None) -> sp.Placement:
    print("noise")  # noqa: T201 - that is what is tested
    return on_first(problem, rng)


def test_what_a_named_placer_prints_goes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    sp.place(small_graph(), placer=f"{__name__}:printing")
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "noise\n")


def test_a_violated_constraint_is_reported() -> None:
    apart = sp.Constraints(exlocate=[["a", "b"]])
    with pytest.raises(CustomPlacerError, match="'on_first' violated a constraint: device 'd0'"):
        sp.place(small_graph(), placer=on_first, constraints=apart)


def test_objects_that_are_not_placers_are_refused() -> None:
    for nothing in (sp.Problem, 5, lambda problem: problem):
        with pytest.raises(UsageError, match="is not a placer"):
            sp.place(small_graph(), placer=nothing)  # type: ignore[call-overload]  # that is the fault
    with pytest.raises(UsageError, match="two placers are called 'on_first'"):
        sp.compare(small_graph(), [on_first, on_first])


def test_the_initial_placement_reaches_the_placer() -> None:
    problem = sp.Problem(small_graph())
    before = sp.Placement(problem, np.array([3, 3]))

    def stays(problem: sp.Problem, rng: object, start: sp.Placement | None = None) -> sp.Placement:
        assert start is before
        return start

    assert solve(problem, stays, start=before).placement is before


def ticking_off(problem: sp.Problem, rng: object, start: object = None) -> sp.Placement:
    """Overwrite work in the problem's own array."""
    work = flow(problem).work
    devices = np.zeros(len(work), dtype=np.int32)
    while work.max() > 0:
        work[work.argmax()] = 0
    return sp.Placement(problem, devices)


def test_a_placer_that_changes_the_problem_is_refused_and_changes_nothing() -> None:
    graph = sp.StreamGraph([("a", 9e4, 10), ("b", 9e4, 10)], [("a", "b")])
    problem = sp.Problem(graph, "2x100", source_rate=1000)
    before = solve(problem, "greedy").score
    with pytest.raises(CustomPlacerError, match="'ticking_off' changed arrays of the problem"):
        solve(problem, ticking_off)
    assert solve(problem, "greedy").score == before
    with pytest.raises(ValueError, match="read-only"):
        problem.cluster.capacity[0] = 1
