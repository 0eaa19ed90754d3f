"""The heap of events."""

import numpy as np

from streamplace.sim.flow import Floats
from streamplace.sim.jit import kernel
from streamplace.sim.schedule.queues import Events, Numbers, no_events, pop, push


@kernel
def in_turn(moments: Floats, found: Numbers, events: Events) -> None:
    """Push all events, and pop one after every second push, then the rest."""
    taken = 0
    for i in range(moments.shape[0]):
        push(events, moments[i], i)
        if i % 2 == 1:
            found[taken] = pop(events)
            taken += 1
    while events.size[0] > 0:
        found[taken] = pop(events)
        taken += 1


def test_events_come_by_time_and_then_by_number() -> None:
    moments = np.random.default_rng(0).integers(0, 4, 40).astype(np.float64)
    found, waiting, expected = np.empty(40, np.int64), list[tuple[float, int]](), list[int]()
    in_turn(moments, found, no_events(40))
    for i, moment in enumerate(moments.tolist()):
        waiting.append((moment, i))
        if i % 2 == 1:
            waiting.sort()
            expected.append(waiting.pop(0)[1])
    expected += [number for _, number in sorted(waiting)]
    assert found.tolist() == expected
