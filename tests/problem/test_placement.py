"""Placements: names and indices, fused operators."""

import json
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reference.strategies import device_lists, graphs, networks
from streamplace.errors import ProblemError, UsageError
from streamplace.problem.cluster import Cluster, Device, LinkOverride, Network
from streamplace.problem.constraints import Constraints
from streamplace.problem.graph import Operator, StreamGraph
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.problem.symmetry import interchangeable, relabel
from streamplace.scoring.throughput import throughput

GRAPH = StreamGraph([Operator(name, 1, 1) for name in "abc"], [], source_rate=1)


def problem(devices: int = 3, **options: Any) -> Problem:
    return Problem(GRAPH, Cluster.equal(devices, **options))


def test_names_to_indices_and_back() -> None:
    placement = Placement.of(problem(), {"c": "d1", "a": "d2", "b": "d1"})
    assert placement.devices.tolist() == [2, 1, 1]
    assert placement.assignment == {"a": "d2", "b": "d1", "c": "d1"}
    assert placement.pes == {"d1": ("b", "c"), "d2": ("a",)}
    assert repr(placement) == "<Placement: 3 operators on 2 devices; 'd1': 'b', 'c'; 'd2': 'a'>"
    assert placement == Placement(placement.problem, np.array([2, 1, 1], np.uint8))
    assert placement != Placement(placement.problem, [2, 1, 0])
    assert placement != [2, 1, 1]


def test_names_in_the_constructor() -> None:
    found = Placement(problem(), {"c": "d1", "a": "d2", "b": "d1"}, job="shop")
    assert found == Placement(problem(), [2, 1, 1])
    assert found.job == "shop"


def test_an_assignment_is_read_only() -> None:
    placement = Placement(problem(), [2, 1, 1])
    with pytest.raises(TypeError, match="does not support item assignment"):
        placement.assignment["a"] = "d0"  # type: ignore[index]
    assert json.dumps(dict(placement.assignment)) == '{"a": "d2", "b": "d1", "c": "d1"}'


def test_a_graph_is_no_problem() -> None:
    with pytest.raises(ProblemError, match=r"problem must be Problem, not dict; write Placement"):
        Placement({"a": "d0"}, GRAPH)  # type: ignore[arg-type]


def test_a_placement_as_records_and_frame() -> None:
    placement = Placement(problem(), [2, 1, 1])
    records = [
        {"operator": "a", "device": "d2"},
        {"operator": "b", "device": "d1"},
        {"operator": "c", "device": "d1"},
    ]
    assert placement.to_records() == records
    pandas = pytest.importorskip("pandas")
    assert placement.to_frame().equals(pandas.DataFrame(records))


def test_a_frame_without_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamplace.util.extras.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"^to_frame\(\) needs pandas: pip install pandas; to_rec"):
        Placement(problem(), [2, 1, 1]).to_frame()


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ({"a": "d0", "b": "d0"}, "^assignment: operator 'c' has no device"),
        ({"q": "d0"}, "^assignment: the graph has no operator 'q'"),
        ({"a": "q"}, r"^assignment\['a'\]: the cluster has no device 'q'"),
    ],
)
def test_faults_of_assignments(assignment: dict[str, str], message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        Placement.of(problem(), assignment)
    with pytest.raises(ProblemError, match=message):
        Placement(problem(), assignment)


@pytest.mark.parametrize(
    "devices",
    [
        [0, 1],
        [[0, 1, 2]],
        [0.0, 1.0, 2.0],
        [True, False, True],
        [0, 1, 3],
        [0, -1, 0],
        [2**32, 0, 0],
    ],
    ids=["short", "2-D", "floats", "booleans", "unknown", "negative", "wraps around"],
)
def test_faults_of_indices(devices: list[Any]) -> None:
    with pytest.raises(ProblemError, match="a placement"):
        Placement(problem(), devices)


def test_the_type_of_indices_is_named_where_only_it_is_wrong() -> None:
    needs = "a placement needs 3 integers, one device index per operator"
    with pytest.raises(ProblemError, match=rf"{needs} \(got float64\)"):
        Placement(problem(), [0.0, 1.0, 2.0])
    with pytest.raises(ProblemError, match=rf"{needs} \(got int64 of shape \(2,\)\)"):
        Placement(problem(), np.zeros(2, np.int64))


def test_devices_are_a_read_only_copy() -> None:
    devices = np.zeros(3, np.int32)
    placement = Placement(problem(), devices)
    devices[0] = 2
    assert placement.devices.tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="read-only"):
        placement.devices[0] = 1


def test_equal_placements_have_equal_hashes() -> None:
    """Equality compares names, so the cluster's order of devices does not matter."""
    devices = [Device("x", 1), Device("y", 1)]
    one, other = (
        Placement.of(Problem(GRAPH, Cluster(order)), dict.fromkeys("abc", "x"))
        for order in (devices, devices[::-1])
    )
    assert one == other
    assert hash(one) == hash(other)


def test_canonical_uses_devices_in_index_order() -> None:
    assert Placement(problem(), [2, 0, 2]).canonical().devices.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    "cluster",
    [
        Cluster([Device("x", 1), Device("y", 2), Device("z", 3)]),
        Cluster([Device("x", 1), Device("y", 1, cores=2), Device("z", 1, memory_bytes=9)]),
        Cluster([Device("x", 1), Device("y", 1, labels=("g",)), Device("z", 1, labels=("h",))]),
        Cluster.equal(3, network=Network(overrides=(LinkOverride("d0", "d1", gap_s=1.0),))),
        Cluster.equal(
            3,
            network=Network(
                "nic", overrides=(LinkOverride("d0", None), LinkOverride(None, "d1", gap_s=1.0))
            ),
        ),
    ],
    ids=["speed", "cores and memory", "labels", "pair", "nic"],
)
def test_canonical_keeps_devices_that_differ(cluster: Cluster) -> None:
    devices = [2, 1, 1]
    assert Placement(Problem(GRAPH, cluster), devices).canonical().devices.tolist() == devices


@pytest.mark.parametrize(
    "rules", [Constraints(pins={"b": "d2"}), Constraints(allowed={"b": ["d2"]})]
)
def test_canonical_keeps_devices_that_constraints_name(rules: Constraints) -> None:
    constrained = Problem(GRAPH, Cluster.equal(3), constraints=rules)
    assert Placement(constrained, [1, 2, 1]).canonical().devices.tolist() == [0, 2, 0]


@st.composite
def with_equal_devices(draw: st.DrawFn) -> tuple[Problem, list[int], list[int]]:
    """Return a problem with some equal devices, a placement and a permutation of devices."""
    speeds = draw(st.lists(st.sampled_from([500.0, 1000.0]), min_size=2, max_size=4))
    devices = [Device(f"d{i}", mips) for i, mips in enumerate(speeds)]
    cluster = Cluster(devices, draw(networks([d.name for d in devices])))
    made = Problem(draw(graphs()), cluster, source_rate=500)
    return made, draw(device_lists(made)), draw(st.permutations(range(len(devices))))


@given(with_equal_devices())
def test_canonical_keeps_the_score_and_is_idempotent(
    case: tuple[Problem, list[int], list[int]],
) -> None:
    made, devices, relabelling = case
    placement = Placement(made, devices)
    canonical = placement.canonical()
    assert canonical.canonical() == canonical
    both = np.stack([placement.devices, canonical.devices])
    before, after = throughput(made, both)
    assert after == pytest.approx(before, rel=1e-12)
    named = {end for o in made.cluster.network.overrides for end in (o.source, o.target)}
    if not named and len({device.mips for device in made.cluster.devices}) == 1:
        other = Placement(made, np.array(relabelling)[placement.devices])
        assert other.canonical() == canonical


@given(with_equal_devices(), st.data())
def test_relabelled_uses_devices_of_a_kind_lowest_index_first(
    case: tuple[Problem, list[int], list[int]], data: st.DataObject
) -> None:
    """The order in which operators use equal devices does not matter."""
    made, drawn, _ = case
    devices, kind = np.array(drawn, dtype=np.int32), interchangeable(made)
    order = np.array(data.draw(st.permutations(range(len(drawn)))), dtype=np.int32)
    renamed = relabel(devices, kind, order)
    assert renamed.dtype == np.int32
    assert (kind[renamed] == kind[devices]).all()
    for v, w in combinations(range(len(drawn)), 2):
        assert (renamed[v] == renamed[w]) == (devices[v] == devices[w])
    for one in set(kind.tolist()):
        in_turn = [d for d in dict.fromkeys(renamed[order].tolist()) if kind[d] == one]
        assert in_turn == np.flatnonzero(kind == one)[: len(in_turn)].tolist()
    assert relabel(renamed, kind, order).tolist() == renamed.tolist()


@given(with_equal_devices(), st.data())
def test_relabelled_is_the_same_for_equivalent_placements(
    case: tuple[Problem, list[int], list[int]], data: st.DataObject
) -> None:
    """Swapping equal devices beforehand makes no difference."""
    made, drawn, _ = case
    devices, kind = np.array(drawn, dtype=np.int32), interchangeable(made)
    swap = np.arange(len(kind), dtype=np.int32)
    for one in set(kind.tolist()):
        of_kind = np.flatnonzero(kind == one)
        swap[of_kind] = data.draw(st.permutations(of_kind.tolist()))
    order = np.array(data.draw(st.permutations(range(len(drawn)))), dtype=np.int32)
    assert relabel(swap[devices], kind, order).tolist() == (relabel(devices, kind, order).tolist())


@given(with_equal_devices(), st.data())
def test_devices_of_a_kind_may_swap_all_their_operators(
    case: tuple[Problem, list[int], list[int]], data: st.DataObject
) -> None:
    made, devices, _ = case
    kind = interchangeable(made)
    one, other = data.draw(st.sampled_from(list(combinations(range(len(kind)), 2))))
    if kind[one] != kind[other]:
        return
    swap = np.arange(len(kind), dtype=np.int32)
    swap[[one, other]] = other, one
    both = np.stack([np.array(devices, dtype=np.int32), swap[devices]])
    before, after = throughput(made, both)
    assert after == pytest.approx(before, rel=1e-12)
