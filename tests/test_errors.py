"""Errors: the parts of a fault, their text, and where they come from."""

import pickle

import pytest

from streamplace.capacity.sizing.requirements import Requirement
from streamplace.capacity.sizing.shortage import ShortageError
from streamplace.errors import (
    ClusterError,
    Fault,
    FormatError,
    InfeasibleError,
    ProblemError,
    StreamplaceError,
    UsageError,
    located,
    within,
)
from streamplace.problem.rules import Rule
from streamplace.workflows.conflict import Conflict

WHOLE = Fault(
    "must be above 0",
    origin="graph.json",
    place=("jobs[0]", "operators[1]"),
    option="cpu",
    remedy="set it",
    conflict=Conflict((Rule("pins", "a"),), True),
)
TEXT = (
    "graph.json: jobs[0]: operators[1]: cpu: must be above 0; "
    "no placement satisfies constraints.pins['a']; set it"
)


def test_the_text_has_all_parts_in_order() -> None:
    assert str(WHOLE) == TEXT
    assert str(ProblemError(WHOLE)) == TEXT


def test_a_text_alone_is_what_is_wrong() -> None:
    error = ProblemError("two\nlines")
    assert error.fault == Fault("two\nlines")
    assert str(error) == "two lines"


def test_a_pickled_error_keeps_its_parts() -> None:
    """Worker processes send errors; what was added to a fault after it was raised counts."""
    lacking = [Requirement("a", (), (), "4 partitions", 5.0, 4, evenly=True, has_all=False)]
    error = ShortageError("cannot keep up", 5.0, lacking)
    error.infeasible = ("graph", "cluster", "constraints")
    error.put("size")
    error.advise("add devices")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is ShortageError
    assert vars(again) == vars(error)
    assert str(again) == "size: cannot keep up; add devices"


def test_the_first_file_stays_the_origin() -> None:
    with (
        pytest.raises(ProblemError, match=r"^b: in b: wrong$"),
        within("in a"),
        located("a"),
        located("b"),
        within("in b"),
    ):
        raise ProblemError("wrong")


def test_an_error_of_a_file_becomes_a_format_error() -> None:
    with pytest.raises(FormatError, match=r"^a: wrong$") as raised, located("a", FormatError):
        raise InfeasibleError(Fault("wrong", operators=("x",)))
    assert raised.value.fault.operators == ("x",)


@pytest.mark.parametrize("file", ["a", None])
def test_faults_of_options_have_no_file(file: str | None) -> None:
    with pytest.raises(UsageError, match=r"^wrong$"), located(file), within("place"):
        raise UsageError("wrong")


@pytest.mark.parametrize(
    ("fault", "origin"),
    [
        (Fault("the word constraints alone"), "graph"),
        (Fault("wrong", of_constraints=True), "rules"),
        (Fault("wrong", conflict=Conflict((Rule("pins", "a"),), True)), "rules"),
        (Fault("wrong", conflict=Conflict((Rule("memory", "d0"),), True)), "graph"),
        (
            Fault("wrong", conflict=Conflict((Rule("colocate", 0),), True, 2, {0: "a"})),
            "graph",  # the group is one of an option
        ),
    ],
)
def test_the_file_of_constraints_is_the_origin_of_their_faults(fault: Fault, origin: str) -> None:
    with pytest.raises(ProblemError) as raised, located("graph", constraints="rules"):
        raise ProblemError(fault)
    assert raised.value.fault.origin == origin


def test_only_some_classes_are_faults_of_a_file() -> None:
    def located_in_cluster(error: StreamplaceError) -> str:
        with (
            pytest.raises(StreamplaceError) as raised,
            located("graph"),
            located("cluster", only=ClusterError, remedy="ask"),
        ):
            raise error
        return str(raised.value)

    assert located_in_cluster(ClusterError("wrong")) == "cluster: wrong; ask"
    assert located_in_cluster(ProblemError("wrong")) == "graph: wrong"


def test_a_place_is_put_before_the_origin() -> None:
    error = ProblemError(Fault("wrong", "weights", ("layer",)))
    error.put("stage[0].start")
    assert str(error) == "stage[0].start: weights: layer: wrong"
