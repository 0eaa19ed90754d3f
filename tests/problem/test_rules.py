"""Single rules of a problem, by the names that files use."""

from streamplace import Cluster, Constraints, Device, Operator, Stream, StreamGraph
from streamplace.problem.feasibility import Feasibility
from streamplace.problem.rules import Rule, RuledParts

GRAPH = StreamGraph(
    [
        Operator("a", 5, 10, memory_bytes=4, requires=("gpu",)),
        Operator("b", 7, 10, memory_bytes=3, cores=2),
        Operator("c", 7, 10),
        Operator("d", 7, 10, requires=("ssd",)),
    ],
    [Stream("a", "b", 0.5), Stream("c", "b")],
    name="job",
    source_rate=10,
    source_shares={"a": 0.5, "c": 0.25, "d": 0.25},
)
CLUSTER = Cluster(
    [
        Device("x", 10, memory_bytes=5, labels=("gpu", "ssd")),
        Device("y", 20, memory_bytes=100, slots=4),
        Device("z", 20, slots=3),
    ]
)
RULES = Constraints(
    pins={"a": "x"},
    colocate=[["a", "b"], ["b", "c"]],
    exlocate=[["c", "d"]],
    allowed={"b": ["x", "y"]},
    apart_groups=[["a", "d"]],
)
PARTS = RuledParts(GRAPH, CLUSTER, RULES)


def test_rules_have_the_names_of_the_files() -> None:
    """The memory and slots of y cannot run out, and the memory of z has no limit."""
    assert [str(rule) for rule in PARTS.rules()] == [
        "memory of x",
        "slots of z",
        "requires of a",
        "requires of d",
        "constraints.pins['a']",
        "constraints.allowed['b']",
        "constraints.colocate[0]",
        "constraints.colocate[1]",
        "constraints.exlocate[0]",
        "constraints.apart_groups[0]",
    ]


def test_only_some_rules() -> None:
    kept = {Rule("memory", "x"), Rule("slots", "z"), Rule("requires", "d"), Rule("colocate", 1)}
    graph, cluster, rules = PARTS.with_only(kept)
    assert graph.names == GRAPH.names
    assert graph.memory_bytes.tolist() == [4, 3, 0, 0]
    assert graph.requires == {3: ("ssd",)}
    assert len(graph.streams) == 0
    assert [device.memory_bytes for device in cluster.devices] == [5, None, None]
    assert [device.slots for device in cluster.devices] == [None, None, 3]
    assert rules == Constraints(colocate=[["b", "c"]])
    nothing = PARTS.with_only(())
    assert Feasibility(*nothing).is_free
    assert [*nothing.rules()] == []


def test_without_one_rule_the_others_and_the_numbers_stay() -> None:
    rules = [*PARTS.rules()]
    for rule in rules:
        left = PARTS.without(rule)
        assert len([*left.rules()]) == len(rules) - 1
        same = left.graph == GRAPH, left.cluster == CLUSTER, left.constraints == RULES
        assert same == (
            rule.kind != "requires",
            rule.kind not in ("memory", "slots"),
            rule.kind in ("requires", "memory", "slots"),
        )
    changed = PARTS.without(Rule("requires", "a")).graph
    assert changed.requires == {3: ("ssd",)}
    assert (changed.name, changed.source_rate, changed.cores.tolist()) == ("job", 10, [1, 2, 1, 1])
    assert changed.source_share.tolist() == GRAPH.source_share.tolist()
    assert changed.selectivity.tolist() == GRAPH.selectivity.tolist()
