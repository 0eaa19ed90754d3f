"""Local search: moves of units, annealing, and coarsening."""

from streamplace.sim.search.anneal import Schedule, anneal
from streamplace.sim.search.coarsen import coarsened, inseparable, joined, joined_alike
from streamplace.sim.search.instance import (
    Instance,
    instance,
    least_load,
    least_work,
    on_devices,
    own_loads,
    unit_loads,
    with_messages,
    work_on_devices,
)
from streamplace.sim.search.moves import search_state
from streamplace.sim.search.spread import reduce_traffic, spread
from streamplace.sim.search.state import SearchState

__all__ = [
    "Instance",
    "Schedule",
    "SearchState",
    "anneal",
    "coarsened",
    "inseparable",
    "instance",
    "joined",
    "joined_alike",
    "least_load",
    "least_work",
    "on_devices",
    "own_loads",
    "reduce_traffic",
    "search_state",
    "spread",
    "unit_loads",
    "with_messages",
    "work_on_devices",
]
