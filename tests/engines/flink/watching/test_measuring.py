"""Measurements of a job on Flink: devices, arrivals and windows."""

from collections.abc import Iterator
from contextlib import contextmanager
from math import nan
from typing import Any

import pytest

from streamplace.control.decisions import State
from streamplace.control.history import History, fault_of
from streamplace.control.interfaces import LostError
from streamplace.control.load import load_of
from streamplace.control.observation import Observation
from streamplace.control.settings import ControllerSettings
from streamplace.engines.flink.client import Client
from streamplace.engines.flink.cluster import Room, TaskManager
from streamplace.engines.flink.documents import Subtask
from streamplace.engines.flink.plan import running
from streamplace.engines.flink.watching.measuring import Window, observation
from streamplace.engines.flink.watching.sampling import Sample, Sampler
from streamplace.engines.flink.watching.windows import Devices, Windows
from streamplace.formats.profiling.counters import Counters
from streamplace.formats.profiling.rest import Server
from tests.support.flink_actions import PATIENT
from tests.support.flink_server.clock import ManualClock
from tests.support.flink_server.cluster import JOB
from tests.support.flink_server.faults import Effect, Fault
from tests.support.flink_server.load import Load
from tests.support.flink_server.server import ScriptedFlink
from tests.support.flink_watching import overloaded, running_job

ON = {"tm-a": "a", "tm-b": "b"}
HOSTS = {"Source: src": ["tm-a"], "count": ["tm-a", "tm-b"], "out: Writer": ["tm-b"]}
WINDOW_S = 300.0


def scripted(load: Load, waiting: bool = True) -> tuple[ScriptedFlink, ManualClock]:
    clock = ManualClock()
    flink = ScriptedFlink(clock=clock, load=load, reports_waiting=waiting)
    flink.jobs[JOB].hosts = {name: list(on) for name, on in HOSTS.items()}
    return flink, clock


def samples(flink: ScriptedFlink, clock: ManualClock) -> tuple[Sample, Sample]:
    with flink.serving() as url:
        sampler = Sampler(Client(Server(url), 5), clock)
        before = sampler.fresh(JOB)
        clock.sleep(WINDOW_S)
        return before, sampler.fresh(JOB)


def observed(flink: ScriptedFlink, clock: ManualClock) -> Observation:
    return observation(*samples(flink, clock), ON)


@pytest.mark.parametrize(
    ("rate", "work", "skew"), [(1, 0, 0.5), (74, 0.012, 0.75), (40, 0.02, 0.5), (13, 0.05, 0.3)]
)
def test_rates_and_busy_shares_are_those_of_the_load(rate: float, work: float, skew: float) -> None:
    load = Load(rate, {"count": work}, {"count": skew})
    found = observed(*scripted(load))
    assert found.missing == ()
    assert found.offered_s == pytest.approx(rate, abs=0.02)
    assert found.read_s == pytest.approx(rate, abs=0.02)
    count = found.readings["count"]
    assert count.tuples_s == pytest.approx(rate, abs=0.02)
    assert count.busy == pytest.approx(rate * work / 2, abs=1e-4)
    assert count.busiest == pytest.approx(rate * work * max(skew, 1 - skew), abs=1e-4)
    assert (count.instances, count.backpressured) == (2, 0)
    assert count.busy_error == pytest.approx(5.0 / found.seconds)
    assert found.hosts == {"Source: src": ("a",), "count": ("a", "b"), "out: Writer": ("b",)}
    assert found.groups.keys() == HOSTS.keys()
    assert len({*found.groups.values()}) == 1
    assert found.devices == {"a", "b"}
    assert found.seconds == pytest.approx(WINDOW_S, abs=5)


def test_the_growth_of_what_waits_is_offered_too() -> None:
    found = observed(*scripted(Load(300.0, {"count": 0.01})))
    assert found.read_s == pytest.approx(200, abs=0.1)
    assert found.offered_s == pytest.approx(300, abs=0.1)
    assert found.waiting is not None
    assert found.waiting > 100 * WINDOW_S
    assert found.readings["count"].busiest == pytest.approx(1)
    assert found.readings["Source: src"].backpressured == pytest.approx(1)


def test_tuples_that_pile_up_in_buffers_are_not_carried() -> None:
    """As where tuples are small, and minutes of them fit into Flink's buffers."""
    found = observed(*scripted(Load(300.0, {"count": 0.01}, buffers=True)))
    assert (found.missing, found.waiting) == ((), 0)
    assert found.read_s == found.offered_s == pytest.approx(300, abs=0.1)
    assert found.readings["count"].arriving_s == pytest.approx(300, abs=0.1)
    assert found.processed == pytest.approx(2 / 3, abs=1e-3)
    history = History(ControllerSettings())
    history.add(found)
    assert history.served_s == pytest.approx(200, abs=0.1)


def test_backpressure_hides_the_offered_rate() -> None:
    found = observed(*scripted(Load(300.0, {"count": 0.01}), waiting=False))
    assert found.missing == ()
    assert found.offered_s == found.read_s == pytest.approx(200, abs=0.1)
    expected = "backpressure hides the offered rate: Source: src is under backpressure 100%"
    assert found.hidden.startswith(expected)


@pytest.mark.parametrize(("of_source", "known"), [(0.01, False), (0.0096, True)])
def test_a_source_that_is_never_idle_may_be_offered_more(of_source: float, known: bool) -> None:
    """Buffers take what the other operator cannot process, so that the source is not held back."""
    load = Load(100.0, {"Source: src": of_source, "count": 0.0198}, buffers=True)
    found = observed(*scripted(load, waiting=False))
    assert found.read_s == pytest.approx(100, abs=0.1)
    assert found.offered_s == (found.read_s if known else None)
    assert "Source: src is never idle" in found.hidden
    assert fault_of(found, None) == ("" if known else found.hidden)


def test_a_source_that_fetches_slowly_shows_in_what_waits() -> None:
    """No operator is busy, and none is under backpressure."""
    found = observed(*scripted(Load(100.0, {"count": 0.009}, fetched_s=60.0)))
    assert found.growth_s == pytest.approx({"Source: src": 40.0}, abs=0.1)
    assert found.offered_s == pytest.approx(100, abs=0.1)
    assert found.busiest == pytest.approx(0.27, abs=1e-3)
    assert found.readings["Source: src"].backpressured == 0.0
    load = load_of(found, found.read_s, ControllerSettings())
    assert load.state is State.LAGGING
    assert "Source: src falls behind: 100 tuples/s arrive and 60 tuples/s are read" in load.reason


@pytest.mark.parametrize("waiting", [True, False])
def test_a_source_without_busy_time_is_named_and_the_rest_measured(waiting: bool) -> None:
    load = Load(60.0, {"Source: src": nan, "count": 0.02})
    found = observed(*scripted(load, waiting))
    assert found.missing == ()
    assert found.not_timed == {"Source: src": "accumulated-busy-time"}
    assert found.offered_s == pytest.approx(60, abs=0.1)
    assert found.readings["count"].busy == pytest.approx(0.6, abs=1e-3)
    assert found.readings["Source: src"].tuples_s == pytest.approx(60, abs=0.1)


@pytest.mark.parametrize("waiting", [True, False])
def test_a_source_without_times_may_have_no_tuples(waiting: bool) -> None:
    """Its counters stand still: Flink measures neither the busy nor the idle time of its thread."""
    found = observed(*scripted(Load(0.0, {"Source: src": nan}), waiting))
    assert found.missing == ()
    assert found.offered_s == 0.0
    assert found.readings["Source: src"].busy == 0.0


def test_backpressure_hides_the_rate_of_a_source_without_busy_time() -> None:
    load = Load(300.0, {"Source: src": nan, "count": 0.01})
    found = observed(*scripted(load, waiting=False))
    assert found.hidden.startswith("backpressure hides the offered rate: Source: src")


def test_another_operator_without_busy_time_is_missing() -> None:
    """It may be the one that is too slow."""
    found = observed(*scripted(Load(60.0, {"count": nan})))
    assert found.missing == ("count: Flink reports no accumulated-busy-time",)


@pytest.mark.parametrize(
    ("skew", "shares"), [(0.5, ()), (0.54, ()), (0.85, (0.85, 0.15)), (1.0, (1.0, 0.0))]
)
def test_shares_of_instances_are_measured_if_they_differ(
    skew: float, shares: tuple[float, ...]
) -> None:
    found = observed(*scripted(Load(74.0, {"count": 0.01}, {"count": skew})))
    assert found.readings["count"].shares == pytest.approx(shares, abs=1e-3)
    assert found.readings["out: Writer"].shares == ()


def test_stale_metrics_are_missing() -> None:
    flink, clock = scripted(Load())
    with flink.serving() as url:
        sampler = Sampler(Client(Server(url), 5), clock)
        before = sampler.fresh(JOB)
        flink.frozen = True
        clock.sleep(WINDOW_S)
        found = observation(before, sampler.fresh(JOB), ON)
    assert len(found.missing) == len(HOSTS)
    assert "count: the metrics have not changed for 3" in "; ".join(found.missing)
    assert found.offered_s is None


def test_metrics_of_one_vertex_may_be_missing() -> None:
    flink, clock = scripted(Load())
    flink.bare = {"count"}
    assert observed(flink, clock).missing == ("count: Flink reports no metrics",)


def test_a_lost_task_manager_is_named() -> None:
    flink, clock = scripted(Load())
    with flink.serving() as url:
        sampler = Sampler(Client(Server(url), 5), clock)
        before = sampler.fresh(JOB)
        flink.lose("tm-b")
        clock.sleep(WINDOW_S)
        middle = sampler.fresh(JOB)
        found = observation(before, middle, {"tm-a": "a"})
        assert found.missing == ("the job, or a part of it, was started anew during the window",)
        assert found.hosts["count"] == ("a", "a")
        clock.sleep(WINDOW_S)
        after = observation(middle, sampler.fresh(JOB), {"tm-a": "a"})
    assert not after.missing
    assert after.devices == {"a"}


def test_instances_that_wait_for_slots_are_missing() -> None:
    flink, clock = scripted(Load())
    with flink.serving() as url:
        sampler = Sampler(Client(Server(url), 5), clock)
        before = sampler.fresh(JOB)
        flink.jobs[JOB].tasks = "SCHEDULED"
        clock.sleep(WINDOW_S)
        found = observation(before, sampler.fresh(JOB), ON)
    assert "count does not run: SCHEDULED" in found.missing
    assert found.parallelism["count"] == 0


def test_a_host_that_is_no_device() -> None:
    found = observation(*samples(*scripted(Load())), {"tm-a": "a"})
    assert found.missing == ("TaskManager tm-b is none of the cluster's devices",)


@pytest.mark.parametrize("state", ["FINISHED", "FAILED", "CANCELED"])
def test_a_job_that_has_ended_is_lost(state: str) -> None:
    flink, clock = scripted(Load())
    flink.jobs[JOB].state = state
    with pytest.raises(LostError, match=f"is {state}, and this controller did not stop it"):
        samples(flink, clock)


def test_an_unknown_job_is_lost() -> None:
    flink, clock = scripted(Load())
    del flink.jobs[JOB]
    asked = "does not know the job .*; see /jobs/overview; is this the address of Flink's REST API"
    with pytest.raises(LostError, match=asked) as raised:
        samples(flink, clock)
    assert "any more" not in str(raised.value)


def test_measuring_changes_nothing() -> None:
    flink, clock = scripted(Load())
    samples(flink, clock)
    assert flink.changes == []


def cluster(**labels: tuple[str, ...]) -> tuple[TaskManager, ...]:
    rows = {name: Room(labels=dict.fromkeys(each, 1.0)) for name, each in labels.items()}
    return tuple(TaskManager(name, room, room, 1, 1) for name, room in rows.items())


def test_labels_name_devices() -> None:
    devices = Devices(["a", "b c"])
    assert devices.update(cluster(x=("dev_b_c",), y=("dev_a", "parts_f"))) == {"x": "b c", "y": "a"}


def test_others_keep_the_device_that_they_got() -> None:
    devices = Devices(["a", "b", "c"])
    assert devices.update(cluster(x=(), y=())) == {"x": "a", "y": "b"}
    assert devices.update(cluster(y=())) == {"y": "b"}
    assert devices.update(cluster(w=(), y=(), z=())) == {"y": "b", "w": "a", "z": "c"}


def test_labels_come_before_the_order() -> None:
    devices = Devices(["a", "b"])
    assert devices.update(cluster(x=(), y=("dev_a",))) == {"x": "b", "y": "a"}


def test_more_task_managers_than_devices() -> None:
    assert Devices(["a"]).update(cluster(x=(), y=())) == {"x": "a"}


def node(name: str, *inputs: str, by: str = "HASH", parallelism: int = 1) -> dict[str, Any]:
    streams = [{"id": each, "ship_strategy": by} for each in inputs]
    return {"id": name, "parallelism": parallelism, "description": name, "inputs": streams}


def found(*nodes: dict[str, Any], **sent: float | None) -> dict[str, float]:
    """Return the arrivals of a job whose vertices sent these tuples, after 50 each of before."""
    plan = running({"name": "x", "nodes": list(nodes)}, "plan")

    def sample(at_s: float, counts: dict[str, float | None]) -> Sample:
        rows = {
            vertex.id: tuple(
                Subtask("t", "RUNNING", Counters(0.0, counts.get(vertex.id, 0.0)))
                for _ in range(vertex.parallelism)
            )
            for vertex in plan.vertices
        }
        return Sample(at_s, running_job(plan), rows)

    after = {name: None if count is None else 50.0 + count for name, count in sent.items()}
    before = sample(100.0, dict.fromkeys(sent, 50.0))
    return Window(before, sample(200.0, after), {}).arrivals


def test_streams_are_added_up_over_instances() -> None:
    join = node("join", "left", "right")
    both = (join, node("left", parallelism=2), node("right"))
    assert found(*both, left=300.0, right=70.0) == {"join": 670.0}


def test_each_instance_receives_a_broadcast() -> None:
    rules = node("count", "rules", by="BROADCAST", parallelism=3)
    assert found(rules, node("rules"), rules=10.0) == {"count": 30.0}


def test_several_streams_of_one_vertex_are_unknown() -> None:
    nodes = (node("sink", "a"), node("a", "src"), node("b", "src"), node("src"))
    assert found(*nodes, src=100.0, a=40.0) == {"sink": 40.0}


def test_counters_that_are_missing_are_unknown() -> None:
    nodes = (node("join", "left", "right"), node("left"), node("right"))
    assert found(*nodes, left=None, right=70.0) == {}


AHEAD_S = 3600.0


@contextmanager
def windows(
    flink: ScriptedFlink,
    settings: ControllerSettings = ControllerSettings(),  # noqa: B008 - frozen
) -> Iterator[Windows]:
    """Yield windows of 300 s, by a clock that is an hour behind that of the server."""
    clock = ManualClock()
    flink.clock = lambda: clock() + AHEAD_S
    with flink.serving() as url:
        sampler = Sampler(Client(Server(url), PATIENT.answer_s), clock)
        yield Windows(sampler, Devices(["a", "b"]), settings, clock)


def test_a_window_begins_where_the_one_before_ended() -> None:
    with windows(ScriptedFlink()) as found:
        first, second = found.next(JOB), found.next(JOB)
    assert second.begin_s == pytest.approx(first.at_s)
    assert first.seconds == pytest.approx(300, abs=15)


def test_free_slots_are_those_that_no_job_holds() -> None:
    """Two TaskManagers have four slots each, and the job runs in one."""
    with windows(ScriptedFlink()) as found:
        assert found.next(JOB).free_slots == 7


def test_short_windows_have_no_more_parts_than_flink_has_new_metrics_for() -> None:
    """Flink fetches metrics every 10 s, and parts would have 4 s."""
    with windows(ScriptedFlink(), ControllerSettings().scaled(1 / 15)) as found:
        lengths = [found.next(JOB).seconds for _ in range(3)]
    assert max(lengths) <= 20.0 + 12.0


def test_a_window_in_which_tuples_pile_up_ends_with_the_part_that_shows_it() -> None:
    flink = overloaded()
    flink.load.rate_s = 90.0
    with windows(flink) as found:
        calm = found.next(JOB)
        flink.load.rate_s = 200.0
        full = found.next(JOB)
        after = found.next(JOB)
    assert not calm.missing
    assert calm.seconds == pytest.approx(300, abs=15)
    assert full.seconds == pytest.approx(60, abs=15)
    assert full.begin_s == pytest.approx(calm.at_s)
    assert full.offered_s == pytest.approx(200.0, rel=0.01)
    assert after.begin_s == pytest.approx(full.at_s)


def test_a_rate_that_rises_on_is_measured_within_a_window() -> None:
    flink = overloaded()
    flink.load.rate_s = 40.0
    with windows(flink) as found:
        sleep = found.clock.sleep

        def rising(seconds: float) -> None:
            flink.load.rate_s += 6.0 if seconds > 30.0 else 0.0
            sleep(seconds)

        found.clock.sleep = rising  # type: ignore[method-assign]
        window = found.next(JOB)
    assert window.rise_s2 == pytest.approx(0.1, rel=0.2)


def test_a_fault_within_a_window_is_none_of_the_window() -> None:
    flink = ScriptedFlink()
    with windows(flink) as found:
        found.next(JOB)
        sleep, slept = found.clock.sleep, 0

        def failing(seconds: float) -> None:
            nonlocal slept
            slept += seconds > 30.0
            flink.faults = [Fault(Effect.ERROR)] if slept == 2 else []
            sleep(seconds)

        found.clock.sleep = failing  # type: ignore[method-assign]
        window = found.next(JOB)
    assert not window.missing
    assert window.seconds == pytest.approx(300, abs=15)


@pytest.mark.parametrize("fails", [False, True])
def test_the_duration_of_the_latest_checkpoint(fails: bool) -> None:
    flink = ScriptedFlink(checkpoint_ms=61_000)
    with windows(flink) as found:
        found.next(JOB)
        flink.faults = [Fault(Effect.ERROR, ".*/checkpoints")] if fails else []
        observation = found.next(JOB)
    assert observation.checkpoint_s == (None if fails else 61.0)
    assert not observation.missing


def test_times_are_those_of_the_server() -> None:
    with windows(ScriptedFlink()) as found:
        observation = found.next(JOB)
        assert found.skew_s == pytest.approx(AHEAD_S)
        assert observation.at_s == pytest.approx(found.now_s, abs=15)
        assert observation.started_s < observation.at_s


def test_a_window_with_a_fault_at_its_end_is_missing_and_the_next_begins_anew() -> None:
    flink = ScriptedFlink()
    with windows(flink) as found:
        first = found.next(JOB)
        flink.faults = [Fault(Effect.ERROR)]
        second = found.next(JOB)
        flink.faults = []
        third = found.next(JOB)
    assert "HTTP 500" in second.missing[0]
    assert second.at_s > first.at_s
    assert not third.missing
    assert third.begin_s >= second.at_s


def test_a_window_with_a_fault_at_its_beginning_is_missing() -> None:
    flink = ScriptedFlink(faults=[Fault(Effect.ERROR, times=1)])
    with windows(flink) as found:
        assert "HTTP 500" in found.next(JOB).missing[0]
        assert not found.next(JOB).missing
