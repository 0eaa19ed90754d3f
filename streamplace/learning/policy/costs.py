"""Costs of operators and streams on devices and links, in the units of a problem's objective."""

from typing import NamedTuple

import numpy as np

from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import parts_of_pass
from streamplace.scoring.flow import flow
from streamplace.sim.flow import Flow
from streamplace.util.arrays import Floats, Ints


class DeviceCosts(NamedTuple):
    """What V operators and E streams cost on each of D devices, and on the links between them."""

    size: Floats  # (V,)
    speed: Floats  # (D,)
    weight: Floats  # (V, D); infinity where a device cannot run an operator
    source: Ints  # (E,)
    target: Ints  # (E,)
    data: Floats  # (E,)
    bandwidth: Floats  # (D, D)
    delay: Floats  # (D, D)
    counts_delay: bool

    @classmethod
    def of(cls, problem: Problem) -> "DeviceCosts":
        """Return the costs of a problem in the units of its objective.

        Under the makespan objective, w is an execution time and c a transfer time in seconds. Under
        throughput, w is the utilisation of a device by an operator at the source rate, and c that
        of a link by a stream, which does not depend on the delay.
        """
        return (_of_flow if problem.objective.has_rates else _of_pass)(problem)


def _of_pass(problem: Problem) -> DeviceCosts:
    tasks = parts_of_pass(problem).tasks
    weight = tasks.seconds_by_device()
    cores = np.minimum(tasks.cores[:, None], tasks.device_cores)
    rate = _square(tasks.rate, tasks.devices)
    if problem.cluster.network.kind == "nic":
        rate = np.minimum(rate, tasks.rate_in)
    return DeviceCosts(
        size=_finite_means(weight * tasks.speed * cores),
        speed=tasks.speed,
        weight=weight,
        source=tasks.source,
        target=tasks.target,
        data=np.where(tasks.silent, 0.0, tasks.bits),
        bandwidth=_within(rate, np.inf),
        delay=_within(_square(tasks.latency_s, tasks.devices), 0.0),
        counts_delay=True,
    )


def _of_flow(problem: Problem) -> DeviceCosts:
    arrays = flow(problem)
    instructions = np.repeat(arrays.instructions[:, None], arrays.devices, axis=1)
    if arrays.timed.size:
        timed = np.flatnonzero(arrays.timed >= 0)
        instructions[timed] = arrays.timed_instructions[arrays.timed[timed]][:, arrays.class_of]
    cannot_run = np.isinf(instructions)
    work = arrays.operator_tuples[:, None] * np.where(cannot_run, 0.0, instructions)
    with np.errstate(divide="ignore"):
        bandwidth = 1.0 / _pairwise(arrays.seconds_per_bit, arrays)
    return DeviceCosts(
        size=arrays.work,
        speed=arrays.capacity,
        weight=np.where(cannot_run, np.inf, work / arrays.capacity),
        source=arrays.source,
        target=arrays.target,
        data=arrays.stream_bits,
        bandwidth=_within(bandwidth, np.inf),
        delay=_within(_pairwise(problem.cluster.link_column("latency_s"), arrays), 0.0),
        counts_delay=False,
    )


def _pairwise(values: Floats, flow: Flow) -> Floats:
    """Return values of links as (D, D): of the slower end if each device has links of its own."""
    devices = flow.devices
    own = values[: flow.own_links]
    if flow.nic:
        return np.maximum.outer(own[:devices], own[devices:])
    return _square(own, devices)


def _square(values: Floats, devices: int) -> Floats:
    """Return values of links, (D * D,) or (1,), as (D, D)."""
    return np.array(np.broadcast_to(values.reshape(-1), devices * devices)).reshape(
        devices, devices
    )


def _within(values: Floats, value: float) -> Floats:
    """Return values of links, (D, D), with another one within each device."""
    changed = values.copy()
    np.fill_diagonal(changed, value)
    return changed


def _finite_means(values: Floats) -> Floats:
    """Return the mean of the finite values of each row."""
    finite = np.isfinite(values)
    counts = np.maximum(finite.sum(axis=1), 1)
    return np.asarray(np.where(finite, values, 0.0).sum(axis=1) / counts)
