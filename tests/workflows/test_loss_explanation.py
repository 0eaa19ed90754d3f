"""The text and the rows of explained losses."""

import json

from streamplace import Cluster, Constraints, Device, Operator, StreamGraph
from streamplace.display.mixins import view_of
from streamplace.display.text import percent
from streamplace.display.view import Line, short
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.workflows.explain_losses import explain_losses
from streamplace.workflows.loss_explanation import LossExplanation


def body_of(found: LossExplanation) -> list[str]:
    """Return the lines below the table."""
    lines = [one for one in view_of(found).body[2:] if isinstance(one, Line)]
    return [line.text.format(*map(short, line.names)) for line in lines]


def explained(mips: float, *, pinned: bool = False) -> LossExplanation:
    """Return the losses of three operators of 500 MIPS each on three devices of some speed."""
    graph = StreamGraph(
        [Operator(name, 5e5, 0) for name in "abc"], [("a", "b"), ("b", "c")], source_rate=1000.0
    )
    cluster = Cluster([Device(f"d{i}", mips) for i in range(3)])
    rules = Constraints(pins={"a": "d0"} if pinned else {})
    problem = Problem(graph, cluster, constraints=rules)
    return explain_losses(Placement.of(problem, {"a": "d0", "b": "d1", "c": "d2"}))


def test_no_single_point_of_failure() -> None:
    found = explained(1000.0)
    assert repr(found) == "<LossExplanation: 0 of 3 devices are single points of failure>"
    assert body_of(found)[-1] == (
        "no single point of failure: after the loss of any one device, moves restore what is "
        "carried now; the worst loss is that of d0: 100.0% of the source rate is carried after "
        "1 move"
    )


def test_too_slow_without_any_device() -> None:
    found = explained(500.0)
    *_, reason, last = body_of(found)
    assert reason == (
        "without d2, no placement carries as much as now; after the moves, 50.0% of the source "
        "rate is carried"
    )
    assert last == (
        "single points of failure: d0, d1, d2; the worst loss is that of d0: 50.0% of the source "
        "rate is carried after 1 move"
    )
    assert {row["throughput_after_moves"] for row in found.to_records()} == {500.0}


def test_a_pinned_operator() -> None:
    found = explained(1000.0, pinned=True)
    assert body_of(found)[-2:] == [
        "without d0, a may run nowhere else: constraints, labels or limits allow no other device",
        "single point of failure: d0; the worst loss is that of d0: no placement is left",
    ]


def test_the_reason_without_a_placement_is_not_shortened() -> None:
    graph = StreamGraph(
        [Operator(name, 5e5, 0, memory_bytes=10) for name in ("a", "{b}")],
        [("a", "{b}")],
        source_rate=1.0,
    )
    problem = Problem(graph, Cluster([Device(name, 1e3, memory_bytes=10) for name in "xy"]))
    found = explain_losses(Placement.of(problem, {"a": "x", "{b}": "y"}))
    assert body_of(found)[-3] == f"without x, {found.worst.reason}"
    assert found.worst.reason.endswith("add devices or memory")


def test_rows_and_json_say_the_same() -> None:
    found = explained(1000.0, pinned=True)
    rows = found.to_records()
    assert [row["name"] for row in rows] == [one.name for one in found.effects]
    assert rows[0]["throughput_after_moves"] is None
    assert rows[0]["operators"] == 1
    written = json.loads(json.dumps(found.to_dict()))
    assert written["single_points_of_failure"] == ["d0"] == [written["worst"]]
    assert [loss["moves"] for loss in written["losses"]] == [
        [{"operator": m.operator, "from": m.source, "to": m.target} for m in one.moves]
        for one in found.effects
    ]
    assert percent(1.0) == found.effects[1].cells()[-1]
