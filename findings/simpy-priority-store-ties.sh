#!/bin/sh
# SimPy 4.1.2: a PriorityStore does not return items of equal priority in the order in which they
# were put, though a PriorityResource serves requests of equal priority in their order.
#
# The store is a plain heap of the items, and PriorityItem compares priorities only. The resource
# sorts its requests by priority, then by time. A simulated queue with classes of priority is
# therefore not first come, first served within a class.
#
# Output seen (Python 3.11):
#   PriorityResource, equal priorities: served in the order 0 1 2 3 4 5 6 7
#   PriorityStore, equal priorities: returned in the order 0 2 6 5 7 4 1 3
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q simpy==4.1.2
"$folder/venv/bin/python" - <<'PYTHON'
import simpy

COUNT = 8


def by_resource() -> list[int]:
    env = simpy.Environment()
    slot = simpy.PriorityResource(env, capacity=1)
    order = []

    def customer(number: int):
        with slot.request(priority=1) as request:
            yield request
            order.append(number)
            yield env.timeout(1)

    for number in range(COUNT):
        env.process(customer(number))
    env.run()
    return order


def by_store() -> list[int]:
    env = simpy.Environment()
    store = simpy.PriorityStore(env)
    order = []

    def worker():
        for number in range(COUNT):
            yield store.put(simpy.PriorityItem(1, number))
        for _ in range(COUNT):
            order.append((yield store.get()).item)

    env.process(worker())
    env.run()
    return order


for what, order in (
    ("PriorityResource, equal priorities: served", by_resource()),
    ("PriorityStore, equal priorities: returned", by_store()),
):
    print(what, "in the order", *order)
    assert sorted(order) == list(range(COUNT))
    assert (order == sorted(order)) == ("Resource" in what), "this has changed"
PYTHON
