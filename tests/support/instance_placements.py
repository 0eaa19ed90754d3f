"""Placements of instances: small ones, and random ones with awkward names."""

from collections.abc import Mapping

from hypothesis import strategies as st

from streamplace.problem.cluster import Cluster, Device
from streamplace.problem.expansion import to_instances
from streamplace.problem.graph import Operator, Stream, StreamGraph
from streamplace.problem.logical import Distribution, LogicalGraph
from streamplace.problem.network import Network
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem

NAMES = ("a", "Map", "map", "Söurce: Kafka", 'say "hi"', "x: [y]", "no", "1e3", "a-b", "-", "ab\tc")
HOSTS = ("d0", "Rack 1", "rack-1", "node.example.com", "ü", "_", "true", "9", "x" * 70)


def word_count_placement(*, whole: bool = True) -> Placement:
    """Return a placement of a word count; with `whole`, both instances of `count` are on d2."""
    job = LogicalGraph(
        StreamGraph(
            [
                Operator("lines", 1000.0, 100.0, 2.5e6),
                Operator("split", 2000.0, 50.0),
                Operator("count", 3000.0, 8.0, 1e6),
                Operator("sink", 0.0, 0.0),
            ],
            [Stream("lines", "split"), Stream("split", "count"), Stream("count", "sink")],
            name="words",
            source_rate=1e5,
        ),
        {"count": 2},
        {("count", "sink"): [Distribution.FIRST]},
    )
    problem = Problem(to_instances(job), Cluster.equal(3, 1000.0))
    on = {"lines": "d0", "split": "d0", "count[0]": "d2", "count[1]": "d2", "sink": "d0"}
    return Placement.of(problem, on if whole else on | {"count[1]": "d1"})


def one_instance_placement() -> Placement:
    """Return a placement of operators without instances, with messages that cost CPU time."""
    graph = StreamGraph(
        [
            Operator("lines", 1000.0, 100.0, 2.5e6),
            Operator("split it", 2000.0, 50.0, resources={"gpu": 0.4}),
            Operator("count", 3000.0, 8.0, 1e6, resources={"gpu": 0.4}),
            Operator("sink", 333.0, 0.0),
        ],
        [Stream("lines", "split it"), Stream("split it", "count", 0.7), Stream("count", "sink")],
        name="Words of 1",
        source_rate=1e5,
    )
    devices = [Device(f"rack {d}", 1000.0, 2, resources={"gpu": 2}) for d in range(3)]
    cluster = Cluster(devices, network=Network(overhead_s=1e-7))
    problem = Problem(graph, cluster, target_utilisation=0.7)
    return Placement(problem, [0, 0, 2, 1])


def placement_without_streams(*names: str) -> Placement:
    """Return a placement of operators without streams on one device."""
    graph = StreamGraph([Operator(name, 1.0, 0.0) for name in names], [], source_rate=1.0)
    return Placement(Problem(graph, Cluster.equal(2)), [0] * len(names))


@st.composite
def logical_graphs(draw: st.DrawFn) -> LogicalGraph:
    """Return up to seven operators of up to four instances, with all distributions."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=7, unique=True))
    operators = [
        Operator(
            name,
            draw(st.integers(0, 40)) * 1e4,
            draw(st.integers(0, 50)) * 100.0,
            draw(st.sampled_from([0.0, 1e6, 3.5e6])),
        )
        for name in names
    ]
    streams = [
        Stream(names[draw(st.integers(0, v - 1))], names[v], draw(st.sampled_from([0.5, 1.0, 2.0])))
        for v in range(1, len(names))
        for _ in range(draw(st.sampled_from([1, 1, 2, 0])))
    ]
    graph = StreamGraph(operators, streams, name=draw(st.sampled_from(["", "job", *NAMES])))
    spread = st.sampled_from([*Distribution])
    ends = [(stream.source, stream.target) for stream in streams]
    return LogicalGraph(
        graph,
        {name: draw(st.integers(1, 4)) for name in names},
        {pair: [draw(spread) for _ in range(ends.count(pair))] for pair in ends},
    )


@st.composite
def instance_placements(draw: st.DrawFn, *, whole: bool) -> Placement:
    """Return a placement of instances; `whole` keeps the instances of an operator together."""
    graph = to_instances(draw(logical_graphs()))
    hosts = draw(st.lists(st.sampled_from(HOSTS), min_size=1, max_size=4, unique=True))
    devices = [Device(host, draw(st.sampled_from([500.0, 2500.0])), 2) for host in hosts]
    anywhere = st.integers(0, len(hosts) - 1)
    of_operator = {v: draw(anywhere) for v in range(len(graph.names))}
    if whole:
        owners = [graph.instance_of.get(v, name) for v, name in enumerate(graph.names)]
        of_operator = {v: of_operator[owners.index(owner)] for v, owner in enumerate(owners)}
    problem = Problem(graph, Cluster(devices), source_rate=1000.0)
    return Placement(problem, [*of_operator.values()])


def pe_partition(assignment: Mapping[str, object]) -> set[frozenset[str]]:
    """Return the groups of operators on the same device, without the device names."""
    together: dict[object, set[str]] = {}
    for name, place in assignment.items():
        together.setdefault(place, set()).add(name)
    return {frozenset(names) for names in together.values()}
