"""Hypothesis strategies: graphs with every field of a file, problems with constraints."""

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from benchmarks.reference.strategies import graphs, problems
from streamplace import Cluster, Device, Problem
from streamplace.errors import InfeasibleError
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import UNKNOWN, Stream, StreamGraph
from streamplace.scoring.registry import CLOSED_FORMS
from tests.support.graphs import chain_graph

NAMES = st.text(min_size=1, max_size=8)
RESOURCES = st.dictionaries(NAMES, st.sampled_from([0, 1, 0.1, 2.5, 1e15]), max_size=2)
NUMBERS = st.floats(0, 1e300) | st.sampled_from([0.1 + 0.2, 5e-324, 1e-7, 1 / 3])
GPUS = st.sampled_from([0.0, 0.5, 1.0]).map(lambda amount: {"gpu": amount})
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([-1, 0, 1, 3, 2**31, 2**63, -0.5, 1e308, float("nan"), float("-inf")]),
    st.sampled_from(["", "a", "b", "d0", "gpu", "nobody", "nic", "1"]),
    st.sampled_from([[], {}, [[]], [{}], ["a", "a"], {"a": 1}, {"a": "d0"}, {"comment": "x"}]),
)

closed_form_problems = st.sampled_from(CLOSED_FORMS).flatmap(problems)
"""Problems under any closed form."""


@st.composite
def full_graphs(draw: st.DrawFn) -> StreamGraph:
    """Return a graph with any names, labels, constraints, shares and a source rate."""
    plain = draw(graphs(max_size=6))
    count = len(plain.names)
    names = draw(st.lists(NAMES, min_size=count, max_size=count, unique=True))
    called = dict(zip(plain.names, names, strict=True))
    labels = st.lists(NAMES, max_size=2, unique=True).map(tuple)
    return StreamGraph(
        [
            replace(o, name=called[o.name], requires=draw(labels), resources=draw(RESOURCES))
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
    """Return constraints as people write them in Python: some fields, as tuples or lists."""
    some = st.lists(st.sampled_from(operators), min_size=1, max_size=3, unique=True)
    fields: dict[str, Any] = {}
    if draw(st.booleans()):
        fields["pins"] = draw(st.dictionaries(st.sampled_from(operators), NAMES, max_size=2))
    if draw(st.booleans()):
        fields["colocate"] = draw(st.lists(some.map(tuple), max_size=2).map(tuple))
    if draw(st.booleans()):
        fields["exlocate"] = draw(st.lists(some, max_size=2))
    if draw(st.booleans()):
        devices = st.lists(NAMES, min_size=1, max_size=2).map(tuple)
        fields["allowed"] = draw(st.dictionaries(st.sampled_from(operators), devices))
    return Constraints(**fields)


@st.composite
def graphs_with_unknowns(draw: st.DrawFn) -> StreamGraph:
    """Return a full graph in which some numbers are unknown and others have many digits."""
    plain = draw(full_graphs())
    numbers = st.none() | st.just(UNKNOWN) | NUMBERS
    owners = st.just("") | st.text(min_size=1, max_size=4)
    operators = []
    for operator in plain.operators:
        work, payload = draw(numbers), draw(numbers)
        operators.append(
            replace(
                operator,
                instructions=operator.instructions if work is None else work,
                payload_bytes=operator.payload_bytes if payload is None else payload,
                instance_of=draw(owners),
            )
        )
    streams = []
    for stream in plain.streams:
        selectivity = draw(numbers)
        kept = stream if selectivity is None else replace(stream, selectivity=selectivity)
        own = draw(st.none() | NUMBERS)
        streams.append(replace(kept, payload_bytes=own))
    return StreamGraph(
        operators,
        streams,
        name=plain.name,
        source_rate=plain.source_rate,
        source_shares={plain.names[v]: float(plain.source_share[v]) for v in plain.sources},
        constraints=plain.constraints,
    )


@st.composite
def constrained_problems(draw: st.DrawFn) -> Problem | None:
    """Return a problem with constraints, memory and resources; None if it is proven infeasible."""
    count = draw(st.integers(3, 7))
    names = [chr(ord("a") + i) for i in range(count)]
    some = st.lists(st.sampled_from(names), min_size=2, max_size=3, unique=True)
    where = st.lists(st.sampled_from(["d0", "d1", "d2"]), min_size=1, max_size=2, unique=True)
    base = chain_graph(*draw(st.lists(st.integers(0, 2_000_000), min_size=count, max_size=count)))
    graph = StreamGraph.from_columns(
        names,
        base.instructions,
        base.payload_bytes,
        np.stack([base.stream_source, base.stream_target], axis=1),
        memory_bytes=draw(st.lists(st.integers(0, 4), min_size=count, max_size=count)),
        requires={0: ("ssd",)} if draw(st.booleans()) else {},
        resources=draw(st.dictionaries(st.integers(0, count - 1), GPUS, max_size=count)),
        source_rate=1000.0,
    )
    limits = draw(st.lists(st.sampled_from([None, 4.0, 9.0]), min_size=3, max_size=3))
    labels = draw(st.lists(st.sampled_from([(), ("ssd",)]), min_size=3, max_size=3))
    devices = [
        Device(f"d{i}", 1000.0, memory_bytes=limits[i], labels=labels[i], resources={"gpu": gpus})
        for i, gpus in enumerate(draw(st.lists(st.integers(0, 3), min_size=3, max_size=3)))
    ]
    rules = Constraints(
        pins={draw(st.sampled_from(names)): "d1"} if draw(st.booleans()) else {},
        colocate=[draw(some)] if draw(st.booleans()) else [],
        exlocate=[draw(some)] if draw(st.booleans()) else [],
        allowed={draw(st.sampled_from(names)): draw(where)} if draw(st.booleans()) else {},
    )
    try:
        return Problem(graph, Cluster(devices), constraints=rules)
    except InfeasibleError:
        return None


@st.composite
def altered_json(draw: st.DrawFn, value: Any) -> Any:
    """Return a JSON value with one part replaced, removed, repeated or added."""
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
