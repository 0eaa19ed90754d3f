"""Local search: moves of units, annealing, and coarsening."""

from sim.search.anneal import Schedule, anneal
from sim.search.anneal_path_average import anneal_path_average
from sim.search.coarsen import coarsened, joined
from sim.search.instance import Instance, instance, own_loads
from sim.search.moves import SearchState, search_state
from sim.search.traffic import reduce_traffic

__all__ = [
    "Instance",
    "Schedule",
    "SearchState",
    "anneal",
    "anneal_path_average",
    "coarsened",
    "instance",
    "joined",
    "own_loads",
    "reduce_traffic",
    "search_state",
]
