"""Loads of units and streams in many draws of their costs."""

from typing import NamedTuple

import numpy as np

from sim.closed_form.sampled import Draws
from sim.flow import Floats, Flow, Ints
from sim.search.instance import Instance, ends_of_units
from sim.search.shared import streams_of_units
from sim.work import first_of_classes


class SampledLoads(NamedTuple):
    """Loads of units and streams in S draws, by row of draws."""

    work: Floats  # (U, S) instructions/s of each unit
    thread_work: Floats  # (U, C, S) the largest operator of each unit by its number of cores
    stream: Ints  # (N,) the stream of each end
    tuples: Floats  # (E, S) tuples/s
    bits: Floats  # (E, S) bit/s
    class_work: Floats  # (U, C, S) as `work`, by class of devices; C = 0 if no operator is timed
    class_own: Floats  # (U, C, S) as `own_load`, by class of devices; C = 0 if no operator is timed
    shared_tuples: Floats  # (S, N) tuples/s of the streams that share messages; see `Copies`
    shared_bits: Floats  # (S, N) bit/s of them


def sampled_loads(flow: Flow, unit_of: Ints, instance: Instance, draws: Draws) -> SampledLoads:
    """Return the loads of an instance's units and streams in S draws of the costs."""
    units, count = len(instance.work), len(draws.work)
    work = np.zeros((units, count))
    np.add.at(work, unit_of, draws.work.T)
    thread_of = np.searchsorted(instance.threads, flow.operator_cores)
    thread_work = np.zeros((units, len(instance.threads), count))
    if instance.limits_operators:
        np.maximum.at(thread_work, (unit_of, thread_of), draws.work.T)
    _, _, stream, _ = ends_of_units(flow, unit_of)
    tuples = np.ascontiguousarray(draws.tuples.T)
    bits = tuples * draws.bits.T
    by_class = _by_class(flow, unit_of, instance, draws)
    shared = streams_of_units(flow, unit_of)
    columns = (np.ascontiguousarray(column[shared].T) for column in (tuples, bits))
    return SampledLoads(work, thread_work, stream, tuples, bits, *by_class, *columns)


def _by_class(flow: Flow, unit_of: Ints, instance: Instance, draws: Draws) -> tuple[Floats, Floats]:
    """Return `class_work` and `class_own` of `SampledLoads`."""
    units, classes = instance.class_work.shape
    work, own = np.zeros((2, units, classes, len(draws.work)))
    timed = np.flatnonzero(flow.timed >= 0)
    for c, d in enumerate(first_of_classes(flow)[:classes]):
        of_operators = draws.work.copy()
        times = draws.timed_instructions[:, flow.timed[timed], c]
        with np.errstate(invalid="ignore"):  # 0 tuples where the operator cannot run
            tabled = draws.operator_tuples[:, timed] * times
        of_operators[:, timed] = np.where(np.isfinite(tabled), tabled, of_operators[:, timed])
        np.add.at(work[:, c], unit_of, of_operators.T)
        cores, usable = flow.cores[d], flow.operator_cores
        speed = np.where(usable < cores, flow.capacity[d] * usable / cores, np.inf)
        np.maximum.at(own[:, c], unit_of, of_operators.T / speed[:, None])
    return work, own
