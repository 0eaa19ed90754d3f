"""Messages and channels in the plain engine of makespans: cases with times worked out by hand."""

from typing import Any

import pytest

from benchmarks.reference.plain_schedule import plain_schedule
from tests.support.schedule_cases import schedule_form, schedule_of, starts

FAN = ("a:1 b:1@1 c:1@1 e:1@2", "a>b:1 a>c:2 a>e:1")  # two messages to d1, one to d2


def network(kind: str, *overrides: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"kind": kind, "overrides": list(overrides), **fields}


def test_messages_on_one_device_cost_nothing() -> None:
    costly = network("pair", latency_s=1, overhead_s=1, gap_s=1)
    assert starts("a:1 b:1", "a>b:5", network=costly) == {"a": 0, "b": 1}


def test_a_free_message_arrives_after_its_transfer_and_latency() -> None:
    times = starts(
        "a:1 b:1@1 c:1@2", "a>b:2 a>c:3", devices=3, network=network("free", latency_s=0.5, gap_s=9)
    )
    assert times == {"a": 0, "b": 3.5, "c": 4.5}


def test_a_message_without_bytes_pays_latency_and_gap() -> None:
    times = starts(
        "a:1 b:1@1 c:1@2", "a>b a>c", devices=3, network=network("egress", latency_s=2, gap_s=0.5)
    )
    assert times == {"a": 0, "b": 3, "c": 3.5}


def test_a_stream_without_payload_has_that_of_its_source() -> None:
    form = schedule_form("a:1 b:1@1", "a>b")
    form["graph"]["operators"][0]["payload_bytes"] = 2_000_000
    assert plain_schedule(**form).start["b"] == 1
    del form["graph"]["streams"][0]["payload_bytes"]
    assert plain_schedule(**form).start["b"] == 3


def test_a_bandwidth_without_limit_transfers_at_once() -> None:
    unlimited = network("egress", bandwidth_mbps=None, latency_s=2)
    assert starts("a:1 b:1@1 c:1@2", "a>b:9 a>c:9", devices=3, network=unlimited) == {
        "a": 0,
        "b": 3,
        "c": 3,
    }


def test_egress_is_one_channel_for_each_sender_held_for_transfer_and_gap() -> None:
    times = starts(*FAN, devices=3, network=network("egress", latency_s=3, gap_s=0.5))
    assert times == {"a": 0, "b": 5, "c": 7.5, "e": 9}  # starts at 1, 2.5 and 5
    times = starts("p:1 q:1@1 b:1@2 c:1@2", "p>b:1 q>c:1", devices=3, network=network("egress"))
    assert times == {"p": 0, "q": 0, "b": 2, "c": 3}  # both arrive at 2


def test_egress_uses_the_numbers_of_the_pair() -> None:
    override = {"from": "d0", "to": "d1", "bandwidth_mbps": 4, "latency_s": 1, "gap_s": 1}
    times = starts("a:1 b:1@1 c:1@2", "a>b:1 a>c:1", devices=3, network=network("egress", override))
    assert times == {"a": 0, "b": 4, "c": 5}  # 1 + 2 + 1; the channel is free at 1 + 2 + 1


def test_pair_is_one_channel_for_each_ordered_pair() -> None:
    times = starts(*FAN, devices=3, network=network("pair", latency_s=3, gap_s=0.5))
    assert times == {"a": 0, "b": 5, "c": 7.5, "e": 5}
    two: list[dict[str, Any]] = [{}, {}, {"cores": 2}]
    times = starts("p:1 q:1@1 b:1@2 c:1@2", "p>b:1 q>c:1", devices=two, network=network("pair"))
    assert times == {"p": 0, "q": 0, "b": 2, "c": 2}
    times = starts("p:1 q:1@1 b:1 c:1@1", "p>c:1 q>b:1", network=network("pair"))
    assert times == {"p": 0, "q": 0, "b": 2, "c": 2}


def test_an_override_keeps_the_numbers_that_it_does_not_state() -> None:
    override = {"from": "d0", "to": "d1", "latency_s": 3}
    times = starts(
        "a:1 b:1@1 c:1@2", "a>b:2 a>c:2", devices=3, network=network("free", override, latency_s=1)
    )
    assert times == {"a": 0, "b": 6, "c": 4}


def test_a_nic_sends_at_its_own_bandwidth_and_an_idle_faster_receiver_adds_nothing() -> None:
    sender = {"from": "d0", "bandwidth_mbps": 4, "gap_s": 1}
    times = starts("a:1 b:1@1 c:1@2", "a>b:1 a>c:1", devices=3, network=network("nic", sender))
    assert times == {"a": 0, "b": 3, "c": 6}  # the second message starts at 1 + 2 + 1


def test_a_nic_receives_one_message_at_a_time_by_first_byte() -> None:
    operators, streams = "p:1 q:1@1 b:1@2 c:1@2", "p>b:2 q>c:1"
    times = starts(operators, streams, devices=3, network=network("nic", latency_s=0.5, gap_s=0.25))
    assert times == {"p": 0, "q": 0, "b": 3.5, "c": 4.75}  # 1.5 to 3.5, gap, 3.75 to 4.75
    late = network("nic", {"from": "d0", "latency_s": 1}, latency_s=0.5)
    times = starts(operators, streams, devices=3, network=late)
    assert times == {"p": 0, "q": 0, "b": 4.5, "c": 2.5}  # first bytes at 2 and 1.5; 2.5 + 2


def test_messages_that_wait_for_a_receiver_go_by_first_byte() -> None:
    """The receiver is busy from 1 to 5; the first bytes of p and q arrive at 2 and at 1.5."""
    late = network("nic", {"from": "d0", "latency_s": 1}, latency_s=0.5)
    operators, streams = "r:0.5@3 p:1 q:1@1 f:1@2 b:1@2 c:1@2", "r>f:4 p>b:2 q>c:1"
    times = starts(operators, streams, devices=4, network=late)
    assert times == {"r": 0, "p": 0, "q": 0, "f": 5, "b": 8, "c": 6}


def test_a_slow_nic_receives_from_the_first_byte_on_and_does_not_hold_the_sender() -> None:
    slow = network("nic", {"to": "d1", "bandwidth_mbps": 2}, latency_s=0.5)
    times = starts("a:1 b:1@1 c:1@2", "a>b:1 a>c:1", devices=3, network=slow)
    assert times == {"a": 0, "b": 5.5, "c": 3.5}  # 1 + 0.5 + 4; 2 + 1 + 0.5


def test_the_latency_of_a_nic_is_the_larger_of_both_ends() -> None:
    ends = (
        {"from": "d0", "latency_s": 1},
        {"to": "d1", "latency_s": 2},
        {"to": "d2", "latency_s": 0.5},
    )
    times = starts("a:1 b:1@1 c:1@2", "a>b a>c", devices=3, network=network("nic", *ends))
    assert times == {"a": 0, "b": 3, "c": 2}


def test_messages_are_served_by_the_moment_at_which_they_may_start() -> None:
    """Sending p's message takes 2 s of CPU time, so that q's may start first."""
    devices = [{"cores": 3, "overhead_s_per_byte": 1e-6}, {}]
    times = starts(
        "p:1 q:1.5 b:1@1 c:1@1", "p>b:2 q>c:0.5", devices=devices, network=network("egress")
    )
    assert times == {"p": 0, "q": 0, "b": 5, "c": 2.5}


def test_messages_of_one_moment_go_by_the_end_of_their_producers() -> None:
    """Both may start at 2, after 0.5 and 1 s of CPU time."""
    devices = [{"cores": 3, "overhead_s_per_byte": 1e-6}, {}]
    times = starts(
        "q:1.5 p:1 b:1@1 c:1@1", "q>b:0.5 p>c:1", devices=devices, network=network("egress")
    )
    assert times == {"q": 0, "p": 0, "b": 4, "c": 3}  # b arrives at 3.5, while c runs


def test_messages_of_producers_that_end_together_go_by_producer() -> None:
    cores = [{"cores": 2}, {}, {}]
    times = starts("c:1@2 q:1 p:1 b:1@1", "p>b:1 q>c:1", devices=cores, network=network("egress"))
    assert times == {"q": 0, "p": 0, "c": 2, "b": 3}


def test_the_index_of_a_producer_counts_more_than_the_index_of_a_stream() -> None:
    """x and q end at 2; q's stream is the lower one, since Kahn's order is q, p, x."""
    cores = [{"cores": 2}, {}]
    operators, streams = "x:1 q:2 p:1@1 b:1@1 c:1@1", "p>x x>b:1 q>c:1"
    times = starts(operators, streams, devices=cores, network=network("egress"))
    assert times == {"x": 1, "q": 0, "p": 0, "b": 3, "c": 4}


@pytest.mark.parametrize("streams", ["a>b:2 a>b:1 a>c:1 a>b:4*0.5", "a>b:4*0.5 a>c:1 a>b:1 a>b:2"])
def test_messages_of_one_producer_go_by_target_selectivity_and_payload(streams: str) -> None:
    schedule = schedule_of(
        "c:1@2 a:1 b:1@1", streams, devices=3, firing="each", network=network("egress")
    )
    assert schedule.start == {"a": 0, "c": 2, "b": 7}
    assert [(m.streams, float(m.start)) for m in schedule.messages] == [
        ((0,), 1),  # to c
        ((1,), 2),  # half a tuple of 4 MB
        ((2,), 4),  # 1 MB
        ((3,), 5),  # 2 MB
    ]


def test_a_message_that_has_started_keeps_its_channel() -> None:
    """z of index 0 starts when a ends, and ends at once; a's message is already on the channel."""
    times = starts("z:0 a:1 p:1@1 b:1@1 c:1@1", "p>z a>b:2 z>c:1", network=network("egress"))
    assert times == {"z": 1, "a": 0, "p": 0, "b": 3, "c": 4}


def test_an_input_without_flow_counts_when_its_producer_ends() -> None:
    slow = network("egress", latency_s=5)
    times = starts(
        "a:2 b:1@1 c:1@1", "a>b:3*0 a>c:3", firing="each", network=slow, multicast="device"
    )
    assert times == {"a": 0, "b": 2, "c": 10}


def test_inputs_everywhere_are_free_and_use_no_channel() -> None:
    operators, streams = "s:1 a:2 b:1@1 c:1@1", "s>b:8 a>b:1 b>c s>c:2"
    times = starts(
        operators,
        streams,
        inputs_everywhere=True,
        network=network("egress", latency_s=1, overhead_s=1),
    )
    assert times == {"s": 0, "a": 1, "b": 3, "c": 4}
    times = starts(
        "s:1 a:1@1 b:1", "s>a:8 a>b:2", inputs_everywhere=True, network=network("egress")
    )
    assert times == {"s": 0, "a": 1, "b": 4}  # a is not a source


def test_multicast_to_a_device_sends_the_largest_stream_once() -> None:
    times = starts(*FAN, devices=3, multicast="device", network=network("egress"))
    assert times == {"a": 0, "b": 3, "c": 4, "e": 4}  # both inputs on d1 arrive at 3


def test_the_largest_stream_has_the_most_bytes_in_the_batch() -> None:
    times = starts(
        "a:1 b:0@1 c:0@1", "a>b:4*0.25 a>c:2", firing="each", batch=2, multicast="device"
    )
    assert times == {"a": 0, "b": 6, "c": 6}


def test_a_multicast_message_counts_as_its_lowest_stream() -> None:
    """The message to d2 serves streams 0 and 2, and goes before stream 1."""
    operators, streams = "a:1 b:1@2 c:1@1 e:1@2", "a>b:1 a>c:1 a>e:3"
    times = starts(operators, streams, devices=3, multicast="device", network=network("egress"))
    assert times == {"a": 0, "b": 4, "c": 5, "e": 5}


def test_multicast_to_all_sends_one_message() -> None:
    times = starts(*FAN, devices=3, multicast="all", network=network("egress"))
    assert times == {"a": 0, "b": 3, "c": 4, "e": 3}


def test_multicast_to_all_leaves_out_consumers_on_the_same_device() -> None:
    times = starts("a:1 b:1 c:1@1", "a>b:9 a>c:1", multicast="all", network=network("egress"))
    assert times == {"a": 0, "b": 1, "c": 2}


def test_a_message_to_all_has_the_largest_transfer_latency_and_gap() -> None:
    ends = (
        {"from": "d0", "to": "d1", "latency_s": 1, "gap_s": 2},
        {"from": "d0", "to": "d2", "bandwidth_mbps": 4},
    )
    operators, streams = "a:1 p:1 b:1@1 c:1@2 e:1@3", "a>b:1 a>c:1 p>e:1"
    times = starts(operators, streams, devices=4, multicast="all", network=network("egress", *ends))
    assert times == {"a": 0, "p": 1, "b": 4, "c": 4, "e": 6}  # the channel is free at 1 + 2 + 2


def test_a_message_to_all_occupies_the_channel_of_every_pair_and_keeps_its_turn() -> None:
    """q's message waits from 2 to 4 for the channel to d1; r's to d2 waits behind it from 3."""
    operators, streams = "p:1 q:2 r:3 b:1@1 c:1@1 e:1@2 f:1@2", "p>b:3 q>c:1 q>e:1 r>f:1"
    devices: list[dict[str, Any]] = [{"cores": 3}, {}, {}]
    times = starts(operators, streams, devices=devices, multicast="all", network=network("pair"))
    assert times == {"p": 0, "q": 0, "r": 0, "b": 4, "c": 5, "e": 5, "f": 6}


def test_each_nic_queues_a_message_to_all() -> None:
    operators, streams = "q:1@1 p:1 e:1@2 b:1@2 c:1@3", "p>b:1 p>c:1 q>e:2"
    times = starts(operators, streams, devices=4, multicast="all", network=network("nic"))
    assert times == {"q": 0, "p": 0, "e": 3, "b": 4, "c": 2}


def test_channels_after_the_last_operator_do_not_count() -> None:
    schedule = schedule_of("a:1 b:1@1", "a>b:1", network=network("egress", gap_s=9))
    assert schedule.makespan == 3
