"""Jobs of passes: what each device gets."""

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.testbed.passes.job import Job, documents
from tests.support.passes import random_job

SEEDS = st.integers(0, 10_000)


def inputs(made: list[dict[str, Any]]) -> Counter[int]:
    """Return how many inputs of each operator the devices will count."""
    local = [w for each in made for task in each["tasks"] for w in task[3]]
    remote = [w for each in made for _, consumers in each["consumers"] for w in consumers]
    return Counter(local + remote)


@given(SEEDS, st.booleans())
def test_every_stream_is_one_input_of_its_target(seed: int, shared: bool) -> None:
    job = random_job(seed, shared=shared)
    made = documents(job, 7)
    assert inputs(made) == Counter(job.target.tolist())
    for d, each in enumerate(made):
        for v, cost_ns, count, outputs, _ in each["tasks"]:
            assert job.devices[v] == d
            assert cost_ns == job.cost_ns[v]
            assert count == (job.target == v).sum()
            assert all(job.devices[w] == d for w in outputs)


@given(SEEDS, st.booleans())
def test_a_message_has_one_sender_and_one_receiver(seed: int, shared: bool) -> None:
    job = random_job(seed, shared=shared)
    made = documents(job, 7)
    sent = {number: (d, to) for d, each in enumerate(made) for number, to, _ in each["messages"]}
    received = {number: d for d, each in enumerate(made) for number, _ in each["consumers"]}
    assert {number: to for number, (_, to) in sent.items()} == received
    handed = [i for each in made for task in each["tasks"] for i in task[4]]
    assert sorted(handed) == sorted(sent)
    assert all(a != b for a, b in sent.values())


@given(SEEDS)
def test_consumers_on_one_device_may_share_the_largest_message(seed: int) -> None:
    alone, shared = (
        [row for each in documents(random_job(seed, shared=s), 1) for row in each["messages"]]
        for s in (False, True)
    )
    job = random_job(seed)
    sizes: dict[tuple[int, int], list[int]] = {}
    for v, w, size in zip(job.source, job.target, job.size, strict=True):
        if job.devices[v] != job.devices[w]:
            sizes.setdefault((int(v), int(job.devices[w])), []).append(int(size))
    assert sorted(size for *_, size in alone) == sorted(s for each in sizes.values() for s in each)
    assert sorted(size for *_, size in shared) == sorted(max(each) for each in sizes.values())


def test_messages_of_an_operator_are_in_the_order_of_its_streams() -> None:
    job: Job = random_job(3)
    for each in documents(job, 1):
        for *_, messages in each["tasks"]:
            assert messages == sorted(messages)
