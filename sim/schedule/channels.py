"""The channels that messages queue for."""

from sim.flow import Floats, Ints
from sim.jit import bare
from sim.schedule.task_graph import PAIR, Columns


@bare
def free_channels(tasks: Columns, devices: Ints, free_from: Floats) -> None:
    """Set the moment from which a channel is free to 0 for those in use: there may be many more."""
    if tasks.network == PAIR:
        for e in range(tasks.target.shape[0]):
            a, b = devices[tasks.source[e]], devices[tasks.target[e]]
            free_from[a * tasks.speed.shape[0] + b] = 0.0
    else:
        for c in range(free_from.shape[0]):
            free_from[c] = 0.0
