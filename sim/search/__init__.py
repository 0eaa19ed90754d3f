"""Local search on the score: what moving a unit changes, annealing on it, contraction."""

from sim.search.anneal import Schedule, anneal
from sim.search.changes import World, world
from sim.search.contract import contracted, joined
from sim.search.instance import Instance, instance
from sim.search.thrift import spare_traffic
from sim.search.throttled import anneal_throttled

__all__ = [
    "Instance",
    "Schedule",
    "World",
    "anneal",
    "anneal_throttled",
    "contracted",
    "instance",
    "joined",
    "spare_traffic",
    "world",
]
