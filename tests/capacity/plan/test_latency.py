"""Plans that keep a limit on latency."""

import pytest

import streamplace as sp
from streamplace.capacity.plan.latency import planned_within
from streamplace.cli.main import main
from streamplace.display.mixins import view_of
from streamplace.display.view import Grid
from streamplace.errors import InfeasibleError, UsageError
from streamplace.files import write_dataset
from streamplace.latency.limit import LatencyLimit
from streamplace.placers.budget import Budget
from tests.support.cli import Capture, json_of

GRAPH = sp.StreamGraph(
    [
        sp.Operator("clicks", 6e4, 2000.0),
        sp.Operator("decode", 1.2e6, 1500.0),
        sp.Operator("store", 9e5, 0.0),
    ],
    [sp.Stream("clicks", "decode"), sp.Stream("decode", "store", 0.8)],
    source_rate=1e3,
)
PRICED = sp.Cluster(
    [
        sp.Device("big", 8000.0, price=5.0),
        sp.Device("m", 2500.0, price=1.0),
        sp.Device("n", 2500.0, price=1.2),
    ]
)


@pytest.mark.parametrize(("limit", "fewest"), [("p99=30ms", 1), ("p99=10ms", 2)])
def test_the_fewest_equal_devices_keep_the_limit(limit: str, fewest: int) -> None:
    """One device keeps up without the limit, at 79% of its time; more of its kind are tried."""
    found = sp.plan(GRAPH, "1x2500", max_latency=limit)
    assert found.fewest_devices == fewest
    assert found.latency is not None
    assert found.latency.answer == "feasible"
    assert found.placement is not None
    assert len(found.placement.problem.cluster.devices) == fewest
    assert found.proven == (fewest == 1)  # the limit rules out no smaller number
    assert f"keep{'s' * (fewest == 1)} up with 1,000 tuples/s within p99 of" in found.headline


@pytest.mark.parametrize(("limit", "names"), [("p99=30ms", ("m",)), ("p99=4ms", ("big",))])
def test_the_cheapest_set_that_keeps_the_limit(limit: str, names: tuple[str, ...]) -> None:
    found = sp.plan(GRAPH, PRICED, max_latency=limit)
    assert found.cheapest is not None
    assert found.cheapest.devices == names
    assert found.cheapest.placement.problem.cluster.names == names
    assert {*names, *found.cheapest.unused} == {*PRICED.names}
    assert found.cheapest.bound == 1.0
    assert found.fewest_devices == len(names)


@pytest.mark.parametrize("cluster", [sp.Cluster.of("2x2500"), PRICED])
def test_a_limit_below_every_path_is_refused(cluster: sp.Cluster) -> None:
    with pytest.raises(InfeasibleError, match="plan: latency limit p99 of 10 us: without any"):
        sp.plan(GRAPH, cluster, max_latency="p99=10us")


def test_plan_and_place_advise_the_same_limit() -> None:
    """More devices than the two keep a lower limit, which place does not reach."""
    texts = []
    for command in (sp.place, sp.plan):
        with pytest.raises(InfeasibleError) as refused:
            command(GRAPH, "2x2500", max_latency="p99=1ms")
        texts.append(str(refused.value).removeprefix("plan: "))
    assert texts[0] == texts[1]
    _, _, advice = texts[0].partition("; a placement keeps ")
    found = sp.plan(GRAPH, "2x2500", most=2, max_latency=advice)
    assert found.fewest_devices == 2


def test_a_limit_is_not_combined_with_losses() -> None:
    with pytest.raises(UsageError, match="cannot combine max_latency with survive"):
        sp.plan(GRAPH, "3x2500", survive=1, max_latency="p99=30ms")


def test_devices_that_cannot_keep_up_are_no_matter_of_latency() -> None:
    found = sp.plan(GRAPH, "2x2500", source_rate=1e5, max_latency="p99=30ms")
    assert (found.fewest_devices, found.proven, found.latency) == (None, True, None)


def test_an_unproven_limit_ends_with_exit_code_3(
    tmp_path: object, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(str(tmp_path))
    write_dataset("graph.json", [GRAPH])
    options = ["plan", "graph.json", "--devices", "2x2500", "--max-latency", "p99=5ms"]
    assert main([*options, "-o", "placement.json"]) == 3
    out, err = capsys.readouterr()
    assert "none found up to" in out
    assert "does not keep up" not in out
    assert "latency limit p99 of 5 ms: unproven" in err
    sp.read_placement("placement.json")
    found = json_of(capsys, *options[:-1], "p99=10ms")
    assert [row["latency"] and row["latency"]["answer"] for row in found["rows"]][:2] == [
        "unproven",
        "feasible",
    ]
    assert found["fewest_devices"] == 2


def test_of_sets_of_one_size_the_one_of_the_lower_latency_answers() -> None:
    """The cheap device provably misses the limit; of the fast one, nothing is proven."""
    graph = sp.StreamGraph(
        [sp.Operator("a", 1e6, 100.0), sp.Operator("b", 1e6, 0.0)],
        [sp.Stream("a", "b")],
        source_rate=10.0,
    )
    cluster = sp.Cluster([sp.Device("slow", 30.0, price=1.0), sp.Device("fast", 200.0, price=5.0)])
    found = sp.plan(graph, cluster, most=1, max_latency="mean=10.5ms")
    assert found.latency is not None
    assert found.latency.answer == "unproven"
    assert found.latency.simulated_s == pytest.approx(0.0111, rel=0.02)
    (row,) = found.rows
    assert row.names == ("fast",)
    assert not found.proven


def test_rows_without_an_answer_about_latency_say_why() -> None:
    """At 1,500 tuples/s, one device falls behind, and two are enough."""
    found = sp.plan(GRAPH, "4x2500", source_rate=1500.0, max_latency="p99=1s")
    (table,) = (part for part in view_of(found).body if isinstance(part, Grid))
    column = [row[table.head.index("latency")] for row in table.rows()]
    assert found.fewest_devices == 2
    assert column[0] == "does not keep up"
    assert str(column[1]).startswith("feasible, ")
    assert {*column[2:]} == {"not searched"}


def test_devices_that_provably_never_keep_up_end_with_exit_code_2(
    tmp_path: object, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with `place`, nothing is written."""
    monkeypatch.chdir(str(tmp_path))
    write_dataset("graph.json", [GRAPH])
    options = ["plan", "graph.json", "--devices", "2x2500", "--source-rate", "1e6"]
    assert main([*options, "--max-latency", "p99=10ms", "-o", "placement.json"]) == 2
    out, err = capsys.readouterr()
    assert "(proven)" in out
    assert err.endswith("are not enough for 1e+06 tuples/s within p99 of 10 ms (proven)\n")
    with pytest.raises(sp.StreamplaceError):
        sp.read_placement("placement.json")


def test_no_further_set_is_searched_once_the_time_is_over() -> None:
    """No set keeps a limit that is hardly above the time of services alone."""
    whole = sp.plan(GRAPH, "3x2500", most=3)
    limit = LatencyLimit.parse("p99=0.5ms")
    one = planned_within(whole, limit, 0, budget=Budget(0.0))
    every = planned_within(whole, limit, 0, budget=Budget())
    counts = [sum(row.latency is not None for row in found.rows) for found in (one, every)]
    assert counts == [1, 3]
    assert not one.proven
