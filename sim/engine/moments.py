"""What a run leaves behind, and whether every tuple of it is accounted for."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sim.engine.records import Records, copied
from sim.engine.world import World
from sim.flow import Floats, Ints

ROUNDING = 1e-6  # of a stream's tuples


class EngineError(RuntimeError):
    """The simulation could not be finished, or lost count; no throughput is known."""


class Order(NamedTuple):
    """The place in a run of everything, in the flow's order."""

    operators: Ints  # (V,)
    streams: Ints  # (E,)
    sources: Ints
    sinks: Ints
    tracked: Ints  # (S,) sources told apart


@dataclass(frozen=True, eq=False)
class Moment:
    """What had happened by a tick; it is put in the flow's order when it is asked for.

    Parameters
    ----------
    kept
        Copies of a run's records, in their places.
    """

    tick: int
    kept: World
    order: Order

    @classmethod
    def of(cls, world: World, tick: int, order: Order) -> "Moment":
        """Return the moment that it is."""
        kept = world._replace(
            operators=copied(world.operators),
            streams=copied(world.streams),
            devices=copied(world.devices),
            links=copied(world.links),
            sources=copied(world.sources),
            reached=world.reached.copy(),
        )
        return cls(tick, kept, order)

    @cached_property
    def operators(self) -> Records:
        """(V,)"""
        return self.kept.operators[self.order.operators]

    @cached_property
    def streams(self) -> Records:
        """(E,)"""
        return self.kept.streams[self.order.streams]

    @property
    def devices(self) -> Records:
        """(D,)"""
        return self.kept.devices

    @property
    def links(self) -> Records:
        """(links crossed + 1,), the first is none."""
        return self.kept.links

    @cached_property
    def sources(self) -> Records:
        """By operator."""
        return self.kept.sources[self.order.sources]

    @cached_property
    def reached(self) -> Floats:
        """(sinks, S) source tuples, a path."""
        return self.kept.reached[self.order.sinks][:, self.order.tracked]


@dataclass(frozen=True, eq=False)
class Raw:
    """A run: what had happened when, and what arrived in every tick that was measured."""

    tick_s: float
    begin: Moment  # of measuring
    end: Moment
    series: tuple[Moment, ...]
    link: Ints  # (links crossed + 1,) number of each among the flow's links
    latency: Floats  # (ticks, sinks) seconds
    arrived: Floats  # (ticks, sinks) tuples


def check(world: World, order: Order) -> None:
    """Raise EngineError where tuples were made or lost, or numbers are not numbers."""
    streams, sources = world.streams, world.sources
    there = streams["taken"] + streams["waiting"] + streams["flying"]
    _compare("stream", streams["sent"], there, order.streams)
    emitted = world.operators["processed"][order.operators[sources["operator"]]]
    there = emitted + sources["dropped"] + sources["backlog"]
    _compare("source", sources["offered"], there, order.sources)


def _compare(kind: str, put: Floats, found: Floats, order: Ints) -> None:
    lost = ~(np.abs(put - found) <= ROUNDING * np.maximum(1.0, put))
    if lost.any():
        place = int(np.argmax(lost))
        number = int(np.flatnonzero(order == place)[0])
        raise EngineError(
            f"{kind} {number}: {put[place]:g} tuples went in, {found[place]:g} are accounted for"
        )
