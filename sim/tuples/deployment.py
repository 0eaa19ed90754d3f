"""The deployment of one placement for single tuples: threads, links and mean service times."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamplace.sim.columns import by_operator
from streamplace.sim.crossed import STAGES, nothing_crossed, number_links
from streamplace.sim.flow import NONE, Floats, Flow, Ints, checked
from streamplace.sim.links import cpu_seconds
from streamplace.sim.work import instructions_of


class UnsupportedError(ValueError):
    """A flow that the simulation of single tuples does not support."""


class Deployment(NamedTuple):
    """V operators, E streams and N links that one placement crosses.

    Services are of E + V kinds: kind e is a tuple that arrives by stream e, and kind E + v is a
    tuple that source v takes from outside.
    """

    device: Ints  # (V,)
    threads: Ints  # (V,) tuples of an operator that can be in service at once
    cores: Ints  # (D,)
    target: Ints  # (E,)
    first_out: Ints  # (V + 1,) index of each operator's first outgoing stream in `out_stream`
    out_stream: Ints  # (E,)
    selectivity: Floats  # (E,)
    service_s: Floats  # (E + V,) mean seconds on one core
    links: Ints  # (E, STAGES) links that a stream passes in turn, -1 where it passes no further one
    link_s: Floats  # (E, STAGES) seconds per tuple on them
    latency_s: Floats  # (E,) seconds on the wire after the links
    link: Ints  # (N,) the flow's index of each link crossed
    rate: Floats  # (E + V,) tuples/s of each kind of service

    @property
    def operators(self) -> int:
        """The number of operators, V."""
        return len(self.device)

    @property
    def streams(self) -> int:
        """The number of streams, E."""
        return len(self.target)

    @property
    def operator_of(self) -> NDArray[np.int64]:
        """(E + V,) operator of each kind of service."""
        own = np.arange(self.operators, dtype=np.int64)
        return np.concatenate([self.target.astype(np.int64), own])

    @property
    def sinks(self) -> NDArray[np.int64]:
        """Operators without outgoing streams."""
        return np.flatnonzero(np.diff(self.first_out) == 0)

    @property
    def thread_utilisation(self) -> Floats:
        """(V,) utilisation of each operator's threads, messages included."""
        work = self.rate * self.service_s
        return np.bincount(self.operator_of, work, minlength=self.operators) / self.threads

    @property
    def device_utilisation(self) -> Floats:
        """(D,) utilisation of each device's cores."""
        work, on = self.rate * self.service_s, self.device[self.operator_of]
        return np.bincount(on, work, minlength=len(self.cores)) / self.cores

    @property
    def link_utilisation(self) -> Floats:
        """(N,) utilisation of each link crossed."""
        crossed = self.links >= 0
        work = (self.rate[: self.streams, None] * self.link_s)[crossed]
        sums = np.bincount(self.links[crossed], work, minlength=len(self.link))
        return sums.astype(np.float64)  # whole numbers if nothing is crossed


def check_supported(flow: Flow) -> None:
    """Refuse flows that the simulation of single tuples does not support.

    Raises
    ------
    UnsupportedError
        If operators join their inputs, or if streams share messages.
    """
    if flow.joins:
        raise UnsupportedError("firing: single tuples require 'each' (got 'all')")
    if flow.multicast != NONE:
        raise UnsupportedError("multicast: single tuples require 'none'")


def deploy(flow: Flow, latency_s: Floats, placement: NDArray[np.integer]) -> Deployment:
    """Return the deployment of one placement, (V,).

    A tuple is in service on one core for instructions / (instructions/s of a core), plus what its
    message costs the receiver, and on average what its output costs the sender, (o + O bits) each.

    Parameters
    ----------
    latency_s
        (L,) LogP's L of each link.

    Raises
    ------
    UnsupportedError
        See `check_supported`.
    ValueError
        If the placement does not fit the flow.
    """
    check_supported(flow)
    on = checked(flow, placement)[0]
    a, b = on[flow.source].astype(np.int64), on[flow.target].astype(np.int64)
    apart, own = a != b, a * flow.devices + b
    sends, receives = (a, flow.devices + b) if flow.nic else (own, own)
    sending, receiving = (
        np.where(apart, cpu_seconds(flow, ends, at, 1.0, flow.bits), 0.0)
        for ends, at in ((sends, a), (receives, b))
    )
    sent = np.bincount(flow.source, flow.selectivity * sending, minlength=flow.operators)
    core_speed = flow.capacity / flow.cores
    work = instructions_of(flow, on) / core_speed[on] + sent
    first_out, out_stream = by_operator(flow.source, flow.operators)
    links, link_s, link = _links(flow, on)
    return Deployment(
        device=on,
        threads=np.maximum(np.minimum(flow.operator_cores, flow.cores[on]), 1).astype(np.int32),
        cores=np.maximum(flow.cores, 1).astype(np.int32),
        target=flow.target,
        first_out=np.ascontiguousarray(first_out, np.int32),
        out_stream=np.ascontiguousarray(out_stream, np.int32),
        selectivity=flow.selectivity,
        service_s=np.concatenate([work[flow.target] + receiving, work]),
        links=links,
        link_s=link_s,
        latency_s=np.where(apart, np.maximum(latency_s[sends], latency_s[receives]), 0.0),
        link=link,
        rate=np.concatenate([flow.stream_tuples, flow.source_tuples]),
    )


def _links(flow: Flow, on: Ints) -> tuple[Ints, Floats, Ints]:
    """Return the links that streams pass, the seconds on them, and the flow's index of each.

    Links that take no time for any stream, such as those of free networks, are left out. On others,
    a message that takes no time itself waits for those before it.
    """
    crossed = nothing_crossed(flow.columns)
    count = number_links(on, flow.columns, crossed)
    link = np.zeros(count, np.int32)
    used = crossed.number > 0
    link[crossed.number[used]] = np.flatnonzero(used)
    stages = [(crossed.sends, crossed.send_s)]
    if len(crossed.ups):
        stages += [(crossed.ups, crossed.up_s), (crossed.downs, crossed.down_s)]
    if flow.nic:
        stages += [(crossed.receives, crossed.receive_s)]
    takes_time = np.zeros(count, np.bool_)
    for number, seconds in stages:
        takes_time[number[(number > 0) & (seconds > 0)]] = True
    links = np.full((len(flow.source), STAGES), -1, np.int32)
    link_s = np.zeros(links.shape)
    streams, passed = np.arange(len(flow.source)), np.zeros(len(flow.source), np.int64)
    for number, seconds in stages:
        takes = takes_time[number]
        at = streams[takes], passed[takes]
        links[at], link_s[at] = number[takes] - 1, seconds[takes]
        passed[takes] += 1
    return links, link_s, link[1:]
