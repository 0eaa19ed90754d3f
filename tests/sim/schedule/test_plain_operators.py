"""Operators and orders in the plain engine of makespans: cases with times worked out by hand."""

import pytest

from benchmarks.reference.plain_schedule import plain_schedule
from tests.support.schedule_cases import schedule_form, schedule_of, starts

WIDE = [{"cores": 3}]


def test_time_is_instructions_by_the_speed_of_the_cores_that_an_operator_uses() -> None:
    schedule = schedule_of("a:12x4 b:12x2", devices=[{"mips": 2, "cores": 3}])
    assert schedule.finish["a"] == 2  # 12 / (2 · 3): the device has three cores
    assert schedule.finish["b"] - schedule.start["b"] == 3  # 12 / (2 · 2)


def test_seconds_on_are_per_tuple_and_by_kind_whatever_the_cores() -> None:
    form = schedule_form(
        "a:9x2 b:1@1", devices=[{"kind": "gpu", "cores": 2}, {"kind": "cpu"}], batch=3
    )
    form["graph"]["operators"][0]["seconds_on"] = {"gpu": 0.5, "cpu": None}
    schedule = plain_schedule(**form)
    assert schedule.finish == {"a": 1.5, "b": 3}
    form["placement"]["a"] = "d1"
    with pytest.raises(ValueError, match="operator 'a' cannot run on device 'd1'"):
        plain_schedule(**form)


def test_operators_hold_their_cores_until_they_end() -> None:
    assert starts("a:4x2 b:6x2 c:1", devices=WIDE) == {"a": 0, "b": 2, "c": 2}


@pytest.mark.parametrize("order", ["fifo", "b-level", "topological", "sequence"])
def test_the_first_that_does_not_fit_blocks_those_behind_it(order: str) -> None:
    """Ranks are 5, 4 and 1; b does not fit beside a, and c would."""
    times = starts("a:10x2 b:12x3 c:1", devices=WIDE, order=order)
    assert times == {"a": 0, "b": 5, "c": 9}


def test_cores_rest_after_work_of_non_zero_time() -> None:
    resting = [{"startup_s": 0.5}]
    assert starts("a:0 b:1 c:1", devices=resting) == {"a": 0, "b": 0, "c": 1.5}


def test_only_the_cores_of_an_operator_rest_and_the_makespan_does_not_wait_for_them() -> None:
    schedule = schedule_of("a:2x2 b:4 c:1", devices=[{"cores": 3, "startup_s": 2}])
    assert schedule.start == {"a": 0, "b": 0, "c": 3}  # two cores rest from 1 to 3
    assert schedule.makespan == 4


def test_messages_do_not_wait_for_rests() -> None:
    assert starts("a:1 b:1@1", "a>b", devices=[{"startup_s": 5}, {}]) == {"a": 0, "b": 1}


def test_fifo_is_by_the_moment_of_becoming_runnable_and_then_by_index() -> None:
    times = starts("c:1 b:1 a:3 p:1@1 q:2@1", "p>b q>c")
    assert times == {"a": 0, "b": 3, "c": 4, "p": 0, "q": 1}
    times = starts("c:1 b:1 a:3 p:1@1", "p>b p>c")
    assert times == {"a": 0, "c": 3, "b": 4, "p": 0}


def test_b_level_starts_the_longest_way_to_an_exit_first() -> None:
    """Ranks: a 1, b 1 + 1 + 0.5 (half of the pairs cross, for 1 s), c 2."""
    assert starts("a:1 c:2 b:1 e:1", "b>e:1", order="b-level") == {"a": 3, "b": 0, "c": 1, "e": 4}


def test_ranks_of_one_value_go_by_index() -> None:
    assert starts("b:2 a:1 e:1", "a>e", order="b-level", devices=1) == {"b": 0, "a": 2, "e": 3}


def test_ranks_use_means_over_the_devices_that_can_run_an_operator() -> None:
    """Without the device of 4 MIPS, a takes 4 s; its mean over both devices would be 2.5 s."""
    devices = [{}, {"mips": 4, "kind": "gpu"}]
    form = schedule_form("b:5 a:4", devices=devices, order="b-level")
    assert plain_schedule(**form).start == {"b": 0, "a": 5}  # ranks 3.125 and 2.5
    form["graph"]["operators"][1]["seconds_on"] = {"gpu": None}
    assert plain_schedule(**form).start == {"b": 4, "a": 0}  # ranks 3.125 and 4


def test_ranks_leave_out_devices_without_the_labels_of_an_operator() -> None:
    form = schedule_form("b:5 a:4", devices=[{"labels": ["ssd"]}, {"mips": 4}], order="b-level")
    form["graph"]["operators"][1]["requires"] = ["ssd"]
    assert plain_schedule(**form).start == {"b": 4, "a": 0}  # ranks 3.125 and 4
    form["placement"]["a"] = "d1"
    with pytest.raises(ValueError, match="cannot run"):
        plain_schedule(**form)


def test_ranks_include_latency_and_the_receiver_of_a_nic() -> None:
    """From d0 to d1 it takes 1 + 4 s and from d1 to d0 1 + 2 s."""
    network = {"kind": "nic", "latency_s": 1, "overrides": [{"to": "d1", "bandwidth_mbps": 4}]}
    streams = "b>e:2"
    times = starts("a:5.75 b:1 e:1", streams, network=network, order="b-level")
    assert times["b"] == 0  # 1 + (5 + 3) / 2 + 1 = 6
    times = starts("a:5.75 b:1 e:1", streams, network=network | {"overrides": []}, order="b-level")
    assert times["a"] == 0  # 1 + (3 + 3) / 2 + 1 = 5


def test_ranks_use_messages_between_devices_that_can_run_both_ends() -> None:
    """b and e can run on d0 only, so that their message costs nothing: the ranks are 4.5 and 1."""
    form = schedule_form("a:4.5 b:1 e:0", "b>e:4", devices=[{}, {"kind": "gpu"}], order="b-level")
    assert plain_schedule(**form).start["b"] == 0  # 1 + 4
    for operator in form["graph"]["operators"][1:]:
        operator["seconds_on"] = {"gpu": None}
    assert plain_schedule(**form).start["b"] == 4.5


def test_a_stream_without_cost_adds_nothing_to_ranks() -> None:
    everything = {"order": "b-level", "network": {"latency_s": 8}}
    assert starts("a:3 b:1 e:1", "b>e:9", **everything)["b"] == 0
    assert starts("a:3 b:1 e:1", "b>e:9", inputs_everywhere=True, **everything)["a"] == 0
    half = {"firing": "each", "source_shares": {"a": 1, "b": 1}}  # rates of 1 at both
    assert starts("a:3 b:1 e:1", "b>e:9*0", **everything, **half)["a"] == 0


def test_the_topological_order_takes_the_smallest_index_and_waits_for_nothing() -> None:
    """Kahn's order is p, c, b, a: a is last, but b cannot start before 5."""
    operators, streams = "a:1 p:1 c:1 b:1 q:5@1", "c>a q>b"
    assert starts(operators, streams, order="topological") == {
        "p": 0,
        "c": 1,
        "a": 2,
        "b": 5,
        "q": 0,
    }


def test_a_sequence_is_strict_on_each_device() -> None:
    """Kahn's order is q, b, c on d0 since q is on another device; c waits for b."""
    operators, streams = "q:5@1 b:1 c:1", "q>b"
    assert starts(operators, streams, order="sequence") == {"q": 0, "b": 5, "c": 6}
    assert starts(operators, streams, order="topological") == {"q": 0, "b": 5, "c": 0}


def test_a_sequence_with_a_barrier_goes_by_level_first() -> None:
    """Kahn's order is a, b, c; b waits for its level, which waits for c."""
    times = starts("a:1 b:1 c:1", "a>b", order="sequence", barrier=True)
    assert times == {"a": 0, "c": 1, "b": 2}


def test_starts_of_one_moment_are_by_index_over_all_devices() -> None:
    """z takes no time; whether c can overtake the other operator of d1 depends on the indices."""
    assert starts("c:1@1 b:1@1 z:0", "z>c") == {"b": 0, "c": 1, "z": 0}
    assert starts("c:1@1 z:0 b:1@1", "z>c") == {"c": 0, "b": 1, "z": 0}


def test_starts_of_one_moment_are_by_priority_over_all_devices() -> None:
    """Under b-level z has rank 1.5, from c, and starts before b, of rank 1."""
    times = starts("b:1@1 c:1.5@1 z:0", "z>c", order="b-level")
    assert times == {"c": 0, "b": 1.5, "z": 0}


def test_under_fifo_the_operator_that_waits_longest_is_first_over_all_devices() -> None:
    """At 5, z has waited since 0 and starts before b, so that c of index 0 overtakes b."""
    times = starts("c:1@1 b:1@1 a:5 p:5@2 z:0", "z>c p>b", devices=3)
    assert times == {"a": 0, "p": 0, "z": 5, "c": 5, "b": 6}


def test_an_operator_without_work_waits_for_cores() -> None:
    assert starts("a:2 z:0 b:1@1", "z>b") == {"a": 0, "z": 2, "b": 2}


def test_a_level_waits_for_all_operators_and_messages_of_the_level_before() -> None:
    """The message to the third level arrives at 1 + 4; e is in the third level by hops."""
    operators, streams = "a:1 b:1 c:1@1 e:1@1", "a>b a>e:4 b>e c>b"
    assert starts(operators, streams, barrier=True) == {"a": 0, "c": 0, "b": 5, "e": 6}
    assert starts(operators, streams) == {"a": 0, "c": 0, "b": 1, "e": 5}
    assert starts("a:3 b:1@1 c:1@1", "b>c", barrier=True) == {"a": 0, "b": 0, "c": 3}


def test_levels_count_the_most_hops() -> None:
    """e is two hops from a by b, so that x, two hops away as well, does not wait for it."""
    times = starts("a:1 b:1 e:5@1 x:1", "a>b b>e a>e b>x", barrier=True)
    assert times == {"a": 0, "b": 1, "e": 2, "x": 2}


def test_a_level_goes_by_the_moments_at_which_inputs_arrived() -> None:
    times = starts("b:1 c:1 p:1@1 q:1@1 r:4@2", "p>c q>b", devices=3, barrier=True)
    assert times == {"p": 0, "q": 1, "r": 0, "c": 4, "b": 5}


def test_sources_share_the_rate_and_flows_add_up() -> None:
    """Two sources process half a tuple each; the join gets 1/2 · 2 + 1/2; the batch is 4."""
    operators, streams = "s:1 t:1@1 j:1@1", "s>j:1*2 t>j"
    schedule = schedule_of(operators, streams, firing="each", batch=4)
    assert schedule.finish == {"s": 2, "t": 2, "j": 12}  # 2 + 4 · 1 s of transfer, 4 · 1.5
    assert schedule.start["j"] == 6
    shares = {"s": 0.25, "t": 0.75}
    schedule = schedule_of(operators, streams, firing="each", batch=4, source_shares=shares)
    assert schedule.finish == {"s": 1, "t": 3, "j": 8}  # 1 + 2, waits for t; 4 · 1.25


def test_dataflow_ignores_shares_and_selectivities() -> None:
    schedule = schedule_of(
        "s:1 t:1@1 j:1@1", "s>j:1*0 t>j", source_shares={"s": 0, "t": 1}, batch=2
    )
    assert schedule.finish == {"s": 2, "t": 2, "j": 6}


def test_operators_without_flow_take_no_time_and_leave_no_rest() -> None:
    times = starts("a:1 b:1 c:1", "a>b:1*0", firing="each", devices=[{"startup_s": 1}])
    assert times == {"a": 0, "c": 1.5, "b": 3}  # a and c take 0.5 s each, and rests follow
    schedule = schedule_of("a:1 b:1 c:0", "a>b:1*0 b>c", firing="each", devices=[{"startup_s": 1}])
    assert schedule.finish == {"a": 1, "b": 2, "c": 2}


def test_a_name_that_is_not_an_option_is_an_error() -> None:
    for option in ({"order": "lifo"}, {"multicast": "some"}, {"firing": "any"}):
        with pytest.raises(ValueError, match="unknown"):
            schedule_of("a:1", **option)
    for network in (
        {"uplinks": {"rack": {"up_mbps": 1}}},
        {"overrides": [{"from_group": "rack", "to": "d1"}]},
    ):
        with pytest.raises(ValueError, match="groups"):
            schedule_of("a:1", network=network)
