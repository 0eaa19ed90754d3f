"""Jobs with everything a file can hold, and good files to spoil."""

import copy
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

from hypothesis import strategies as st

from benchmarks.reference.strategies import graphs
from streamplace.errors import StreamplaceError
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import Operator, Stream, StreamGraph

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

NAMES = st.text(min_size=1, max_size=8)
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([-1, 0, 1, 3, 2**31, 2**63, -0.5, 1e308, float("nan"), float("-inf")]),
    st.sampled_from(["", "a", "b", "d0", "gpu", "nobody", "nic", "1"]),
    st.sampled_from([[], {}, [[]], [{}], ["a", "a"], {"a": 1}, {"a": "d0"}, {"comment": "x"}]),
)


def outcome(
    function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> tuple[Result | None, str]:
    """Return a result and nothing said, or None and what the error says."""
    try:
        return function(*args, **kwargs), ""
    except StreamplaceError as error:
        return None, str(error)


@st.composite
def full_graphs(draw: st.DrawFn) -> StreamGraph:
    """Return a graph of any names, with labels, constraints, shares and a source rate."""
    plain = draw(graphs(max_size=6))
    count = len(plain.names)
    names = draw(st.lists(NAMES, min_size=count, max_size=count, unique=True))
    called = dict(zip(plain.names, names, strict=True))
    labels = st.lists(NAMES, max_size=2, unique=True).map(tuple)
    return StreamGraph(
        [
            Operator(called[o.name], o.instructions, o.payload_bytes, o.memory_bytes, draw(labels))
            for o in plain.operators
        ],
        [
            Stream(called[s.source], called[s.target], s.selectivity, s.payload_bytes)
            for s in plain.streams
        ],
        name=draw(st.text(max_size=8)),
        source_rate=draw(st.none() | st.floats(1e-3, 1e9)),
        source_shares={called[plain.names[v]]: plain.source_share[v] for v in plain.sources},
        constraints=draw(st.none() | constraints(names)),
    )


@st.composite
def constraints(draw: st.DrawFn, operators: Sequence[str]) -> Constraints:
    """Return constraints as people write them in Python: some of the fields, tuples or lists."""
    some = st.lists(st.sampled_from(operators), min_size=1, max_size=3, unique=True)
    given_fields: dict[str, Any] = {}
    if draw(st.booleans()):
        given_fields["pins"] = draw(st.dictionaries(st.sampled_from(operators), NAMES, max_size=2))
    if draw(st.booleans()):
        given_fields["colocate"] = draw(st.lists(some.map(tuple), max_size=2).map(tuple))
    if draw(st.booleans()):
        given_fields["exlocate"] = draw(st.lists(some, max_size=2))
    if draw(st.booleans()):
        devices = st.lists(NAMES, min_size=1, max_size=2).map(tuple)
        given_fields["allowed"] = draw(st.dictionaries(st.sampled_from(operators), devices))
    return Constraints(**given_fields)


@st.composite
def spoilt(draw: st.DrawFn, value: Any) -> Any:
    """Return a JSON value with one thing in it replaced, removed, repeated or added."""
    result = copy.deepcopy(value)
    here: Any = result
    while True:
        keys = list(here) if isinstance(here, dict) else list(range(len(here)))
        if not keys:
            return result
        key = draw(st.sampled_from(keys))
        if not (isinstance(here[key], dict | list) and here[key] and draw(st.integers(0, 3))):
            break
        here = here[key]
    act = draw(st.sampled_from(["replace", "replace", "remove", "add"]))
    if act == "replace":
        here[key] = draw(JUNK)
    elif act == "remove":
        del here[key]
    elif isinstance(here, dict):
        here[draw(st.sampled_from(["comment", "colour", "payload_bytes"]))] = draw(JUNK)
    else:
        here.append(draw(st.just(here[key]) | JUNK))
    return result
