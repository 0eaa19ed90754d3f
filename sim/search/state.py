"""The state of a search for placements of units, and a change of it.

The loads of devices, links and units share one numbering: device d has load d, link l has load D +
l, and unit u, whose operators may be unable to use all cores of a device, has load D + L + u.
"""

from typing import NamedTuple

from streamplace.sim.flow import Floats, Ints
from streamplace.sim.messages import Messages
from streamplace.sim.search.instance import Bools


class SearchState(NamedTuple):
    """A placement of units, its loads, the change being tried, and the best placement so far."""

    on: Ints  # (U,) device of each unit
    load: Floats  # (R,) utilisation / reference; R = D + L, or D + L + U if operators are limited
    used: Floats  # (D, K) counts of each limit, such as bytes of memory
    best: Ints  # (U,)
    moved: Ints  # (U,) units moved since the best; the first `tally[2]` entries are valid
    marked: Bools  # (U,) whether a unit is among `moved`
    change: Floats  # (R,) change of each load in the trial; valid for listed loads only
    listed: Ints  # (R,) loads that the trial changes; the first `tally[0]` are valid
    listed_in: Ints  # (R,) number of the trial that last listed the load
    paid: Floats  # (1,) migration cost of the operators that have moved, if it is limited
    tally: Ints  # (3,) number of listed loads; number of the trial; number of moved units
    room: Messages  # scratch arrays


class Move(NamedTuple):
    """Unit u goes from device a to b; unit `other`, unless it is -1, then goes to device c."""

    u: int
    a: int
    b: int
    other: int
    c: int
