"""Queues of operators with fixed priorities, compared with sorted lists."""

import numpy as np

from streamplace.sim.flow import Ints
from streamplace.sim.jit import kernel
from streamplace.sim.schedule.bit_queues import (
    BitQueues,
    add,
    bit_queues,
    clear,
    first,
    remove_first,
)


@kernel
def removed(queues: BitQueues, devices: Ints, sequence: Ints, steps: Ints) -> Ints:
    """Return what each step, (N,), removes: -d - 1 removes from device d, v adds an operator."""
    clear(queues, devices, sequence)
    found = np.full(steps.shape[0], np.int32(-1))
    for i in range(steps.shape[0]):
        step = steps[i]
        if step >= 0:
            add(queues, devices[step], step)
        elif queues.length[-step - 1] > 0:
            found[i] = first(queues, -step - 1)
            remove_first(queues, -step - 1)
    return found


def test_the_operator_of_highest_priority_is_removed_first() -> None:
    rng = np.random.default_rng(0)
    for operators, count in ((1, 1), (32, 1), (33, 1), (100, 3), (400, 2), (40, 100)):
        queues = bit_queues(operators, count)
        for _ in range(20):
            devices = rng.integers(0, count, operators, dtype=np.int32)
            sequence = rng.permutation(operators).astype(np.int32)
            adds, pops = rng.permutation(operators), -1 - rng.integers(0, count, operators)
            steps = rng.permutation(np.concatenate([adds, pops])).astype(np.int32)
            found = removed(queues, devices, sequence, steps)
            position = np.argsort(sequence)
            waiting: list[list[int]] = [[] for _ in range(count)]
            for step, got in zip(steps.tolist(), found.tolist(), strict=True):
                if step >= 0:
                    waiting[devices[step]].append(step)
                elif queue := waiting[-step - 1]:
                    best = min(queue, key=lambda v: position[v])
                    queue.remove(best)
                    assert got == best
                else:
                    assert got == -1
