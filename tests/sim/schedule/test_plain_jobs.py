"""CPU time of messages in the plain engine of makespans: cases with times worked out by hand."""

from typing import Any

import pytest

from tests.support.schedule_cases import schedule_of, starts

HALF = {"overhead_s": 0.5}  # of CPU time for a message at each end
PRIORITY_ORDERS = ["b-level", "topological", "sequence"]


def test_a_message_takes_cpu_time_before_it_starts_and_after_it_arrives() -> None:
    schedule = schedule_of("a:1 b:1@1", "a>b:1", network=HALF)
    assert schedule.start["b"] == 3
    assert [(j.device, float(j.start), float(j.finish)) for j in schedule.jobs] == [
        ("d0", 1, 1.5),
        ("d1", 2.5, 3),
    ]


def test_overhead_is_once_a_message_whatever_the_batch() -> None:
    assert starts("a:1 b:1@1", "a>b:1", network=HALF, batch=4)["b"] == 4 + 0.5 + 4 + 0.5


def test_overhead_for_bytes_is_that_of_the_device_or_else_of_the_network() -> None:
    network = {"overhead_s_per_byte": 5e-7}
    assert starts("a:1 b:1@1", "a>b:2", network=network)["b"] == 1 + 1 + 2 + 1
    devices: list[dict[str, Any]] = [{"overhead_s_per_byte": 1e-6}, {"overhead_s_per_byte": 0}]
    assert starts("a:1 b:1@1", "a>b:2", network=network, devices=devices)["b"] == 1 + 2 + 2


def test_overhead_of_a_pair_and_of_each_interface() -> None:
    pair = {"overrides": [{"from": "d0", "to": "d1", "overhead_s": 1}]}
    assert starts("a:1 b:1@1", "a>b:1", network={"kind": "pair", **pair, **HALF})["b"] == 4
    ends = [{"from": "d0", "overhead_s": 1}, {"to": "d1", "overhead_s": 0.25}]
    assert starts("a:1 b:1@1", "a>b:1", network={"kind": "nic", "overrides": ends})["b"] == 3.25


def test_messages_that_are_free_take_no_cpu_time() -> None:
    assert schedule_of("a:1 b:1", "a>b:1", network=HALF).jobs == ()
    assert schedule_of("a:1 b:1@1", "a>b:1", network=HALF, inputs_everywhere=True).jobs == ()
    assert schedule_of("a:1 b:1@1", "a>b:1*0", network=HALF, firing="each").jobs == ()


def test_under_fifo_a_job_queues_by_ready_time_before_operators_of_the_same_moment() -> None:
    """At 1, w has waited since 0, the job is ready and c becomes runnable."""
    times = starts("a:1 c:1 w:1 b:1@1", "a>c a>b:1", network=HALF)
    assert times == {"a": 0, "w": 1, "c": 2.5, "b": 4}


def test_under_other_orders_jobs_precede_operators() -> None:
    times = starts("a:1 c:1 w:1 b:1@1", "a>c a>b:1", network=HALF, order="topological")
    assert times == {"a": 0, "c": 1.5, "w": 2.5, "b": 3}
    times = starts("a:4 w:3 b:1@1", "a>b:1", network=HALF, order="b-level")
    assert times == {"a": 0, "w": 4.5, "b": 6}


@pytest.mark.parametrize("order", ["fifo", *PRIORITY_ORDERS])
def test_of_one_moment_receiving_precedes_sending(order: str) -> None:
    """At 3, a's message arrives on d1 and p ends there."""
    times = starts("a:1 p:3@1 b:1@1 c:1", "a>b:1.5 p>c:1", network=HALF, order=order)
    assert times == {"a": 0, "p": 0, "b": 4, "c": 5.5}


def test_jobs_of_earlier_moments_come_first() -> None:
    """d1 is busy until 4; the messages arrive at 3.5 and 3, and w's message is sent after both."""
    operators, streams = "a:1 p:1@2 w:4@1 b:1@1 c:1@1 e:1", "a>b:2 p>c:1.5 w>e"
    schedule = schedule_of(operators, streams, devices=3, network=HALF, order="topological")
    assert schedule.start == {"a": 0, "p": 0, "w": 0, "b": 5.5, "c": 6.5, "e": 6}
    assert [(m.source, *m.counts.values()) for m in schedule.messages] == [
        ("a", 5),
        ("p", 4.5),
        ("w", 6),
    ]


@pytest.mark.parametrize("order", ["fifo", *PRIORITY_ORDERS])
def test_messages_that_arrive_together_are_received_in_the_order_of_messages(order: str) -> None:
    """Both arrive on d2 at 3; q's could start at 1, p's at 1.5."""
    operators, streams = "p:1 q:0.5@1 b:0@2 c:0@2", "p>b:1.5 q>c:2"
    schedule = schedule_of(operators, streams, devices=3, network=HALF, order=order)
    assert [(float(j.start), j.sends) for j in schedule.jobs if j.device == "d2"] == [
        (3.5, False),
        (3, False),
    ]


def test_the_order_of_messages_is_by_the_moment_at_which_they_may_start() -> None:
    """Both arrive on d2 at 4; p ends at 1 and q at 1.5, but they may start at 2.5 and 2."""
    devices = [{"overhead_s_per_byte": per_byte} for per_byte in (1e-6, 2.5e-7, 2.5e-7)]
    times = starts("p:1 q:1.5@1 b:1@2 c:1@2", "p>b:1.5 q>c:2", devices=devices)
    assert times == {"p": 0, "q": 0, "c": 4.875, "b": 5.875}


def test_messages_of_one_producer_are_sent_in_order() -> None:
    times = starts("c:1@2 a:1 b:1@1", "a>b:1 a>c:1", devices=3, network=HALF)
    assert times == {"a": 0, "c": 3, "b": 3.5}


def test_a_job_waits_for_rests_and_leaves_none() -> None:
    resting = [{"startup_s": 1}, {}]
    operators, streams = "a:1 c:1 b:1@1", "a>b:1"
    times = starts(operators, streams, devices=resting, network=HALF, order="topological")
    assert times == {"a": 0, "c": 2.5, "b": 4}  # the job is from 2 to 2.5


def test_a_job_needs_one_core() -> None:
    two = [{"cores": 2}, {}]
    times = starts("a:1 c:5 e:1x2 b:1@1", "a>b:1", devices=two, network=HALF, order="topological")
    assert times == {"a": 0, "c": 0, "e": 5, "b": 3}


def test_under_fifo_a_job_waits_behind_an_operator_that_does_not_fit() -> None:
    two = [{"cores": 2}, {}]
    times = starts("a:1 l:3 w:4x2 b:1@1", "a>b", devices=two, network=HALF)
    assert times == {"a": 0, "l": 0, "w": 3, "b": 6}  # jobs from 5 to 5.5 and from 5.5 to 6
    times = starts("a:1 l:3 w:4x2 b:1@1", "a>b", devices=two, network=HALF, order="topological")
    assert times == {"a": 0, "l": 0, "w": 3, "b": 2}


def test_a_sequence_holds_back_operators_only() -> None:
    """d0 waits for b, d1 for e; meanwhile a's message is sent and received."""
    times = starts("a:1 b:1 e:1@1 q:5@1", "q>b a>e", network=HALF, order="sequence")
    assert times == {"a": 0, "e": 2, "q": 3, "b": 9}


@pytest.mark.parametrize("order", ["fifo", *PRIORITY_ORDERS])
def test_a_barrier_waits_for_jobs_and_holds_back_operators_only(order: str) -> None:
    times = starts("a:1 c:1 b:1@1", "a>c a>b", network=HALF, barrier=True, order=order)
    assert times == {"a": 0, "c": 2, "b": 2}


def test_multicast_to_all_has_one_send_job_and_a_receive_job_for_each_destination() -> None:
    operators, streams = "a:1 b:1@1 c:1@2 e:1@2", "a>b a>c a>e"
    schedule = schedule_of(operators, streams, devices=3, network=HALF, multicast="all")
    assert schedule.start == {"a": 0, "b": 2, "c": 2, "e": 3}
    assert sorted((j.device, j.sends) for j in schedule.jobs) == [
        ("d0", True),
        ("d1", False),
        ("d2", False),
    ]


def test_cpu_time_of_a_message_to_all_is_the_largest_and_for_its_own_bytes() -> None:
    overrides = [{"from": "d0", "to": "d2", "overhead_s": 1}]
    times = starts(
        "a:1 b:1@1 c:1@2",
        "a>b a>c",
        devices=3,
        network={"overrides": overrides, **HALF},
        multicast="all",
    )
    assert times == {"a": 0, "b": 2.5, "c": 3}  # sent from 1 to 2
    per_byte = {"overhead_s_per_byte": 5e-7}
    times = starts("a:1 b:1@1 c:1@2", "a>b:1 a>c:2", devices=3, network=per_byte, multicast="all")
    assert times == {"a": 0, "b": 5, "c": 5}  # 1 s, 2 s and 1 s, also for the smaller stream
