#!/bin/sh
# SimPy 4.1.2: a process that stops waiting for an item, because a timeout came first or because it
# was interrupted, still gets the next item; nobody else ever sees it. A slot of a resource that a
# process stopped waiting for is occupied to the end of the simulation.
#
# `store.get()` puts a request into the queue of the store. Neither `get | timeout` nor an interrupt
# takes it out again, and a request that is met removes the item, whether or not a process still
# waits. So a simulated consumer with a deadline loses an item at each deadline. The request has to
# be cancelled, or made in a `with` statement.
#
# Output seen (Python 3.11):
#   after a timeout: 2 items put, received: ['second'], left in the store: []
#   after an interrupt: 2 items put, received: ['second'], left in the store: []
#   after a timeout, with "with": 2 items put, received: ['first', 'second'], left in the store: []
#   resource: the process that gave up at 1 occupies the slot at 1000: True
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q simpy==4.1.2
"$folder/venv/bin/python" - <<'PYTHON'
import simpy


def received(how: str) -> tuple[list[str], list[str]]:
    """Return the items that processes received, and those in the store, after one gave up."""
    env = simpy.Environment()
    store = simpy.Store(env)
    items: list[str] = []

    def impatient():
        try:
            if how == "with":
                with store.get() as request:
                    yield request | env.timeout(1)
            else:
                yield store.get() | env.timeout(1 if how == "timeout" else 100)
        except simpy.Interrupt:
            pass

    def patient():
        yield env.timeout(2)
        for _ in range(2):
            items.append((yield store.get()))

    def producer():
        yield env.timeout(3)
        for item in ("first", "second"):
            yield store.put(item)

    waiting = env.process(impatient())
    env.process(patient())
    env.process(producer())
    env.run(until=1.5)
    if how == "interrupt":
        waiting.interrupt()
    env.run(until=50)
    return items, store.items


def is_occupied() -> bool:
    """Return whether a slot is occupied long after the only process that wanted it gave up."""
    env = simpy.Environment()
    slot = simpy.Resource(env, capacity=1)

    def owner():
        with slot.request() as request:
            yield request
            yield env.timeout(5)

    def impatient():
        yield slot.request() | env.timeout(1)

    env.process(owner())
    env.process(impatient())
    env.run(until=1000)
    return slot.count == 1


for how, text in (
    ("timeout", "a timeout"),
    ("interrupt", "an interrupt"),
    ("with", 'a timeout, with "with"'),
):
    items, left = received(how)
    print(f"after {text}: 2 items put, received: {items}, left in the store: {left}")
    expected = ["first", "second"] if how == "with" else ["second"]
    assert items == expected and not left, "this has changed"
occupied = is_occupied()
print(f"resource: the process that gave up at 1 occupies the slot at 1000: {occupied}")
assert occupied, "this has changed"
PYTHON
