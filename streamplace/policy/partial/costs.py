"""The costs of a problem as kernels of partial placements take them, under both objectives."""

from typing import NamedTuple

import numpy as np

from sim.columns import by_operator
from sim.schedule.cores import first_cores
from streamplace.policy.giph.pairs import costs_of
from streamplace.problem.makespan import Makespan
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled_pass import compiled_pass
from streamplace.util.arrays import Bools, Floats, Ints


class Costs(NamedTuple):
    """What V operators and E streams cost on each of D devices, and on the links between them.

    Under the makespan objective, costs are seconds; under throughput, they are shares of a device
    or link in use.
    """

    seconds: Floats  # (V, D); devices that cannot run an operator count as an average one
    mean: Floats  # (V,) the mean of `seconds` over the devices that can run the operator
    source: Ints  # (E,)
    target: Ints  # (E,)
    first_in: Ints  # (V + 1,) index of each operator's first stream in `inward`
    inward: Ints  # (E,) streams, sorted by target
    first_out: Ints  # (V + 1,)
    outward: Ints  # (E,) streams, sorted by source
    amount: Floats  # (E,) what each stream carries
    silent: Bools  # (E,) whether a stream brings no message
    per_amount: Floats  # (D, D) cost of a unit of it between two devices; 0 within a device
    per_message: Floats  # (D, D) further cost of a message, even without bytes
    cores: Ints  # (V,) number of cores that each operator can use
    first_core: Ints  # (D + 1,) index of each device's first core
    rest: Floats  # (D,) time that cores rest after an operator
    unit: float  # the mean cost of an operator; 1 without work
    is_pass: bool  # whether the objective is the makespan


def partial_costs(problem: Problem) -> Costs:
    """Return the costs of a problem.

    Messages take their mean time on the link, as if no other message delayed them. A message
    without bytes takes the latency, as in the engine; a stream that brings no message takes no
    time.

    Raises
    ------
    GraphError
        If loads overflow, or no tuple ever reaches a sink.
    """
    costs, is_pass = costs_of(problem), isinstance(problem.objective, Makespan)
    operators, devices = costs.weight.shape
    finite = np.isfinite(costs.weight)
    known = np.where(finite, costs.weight, 0.0)
    mean = known.sum(axis=1) / np.maximum(finite.sum(axis=1), 1)
    first_in, inward = by_operator(costs.target, operators)
    first_out, outward = by_operator(costs.source, operators)
    if is_pass:
        tasks = compiled_pass(problem).tasks
        cores, of_device, rest = tasks.cores, tasks.device_cores, tasks.startup_s
        silent = tasks.silent
    else:
        cores, of_device = np.ones(operators, np.int32), np.ones(devices, np.int32)
        rest, silent = np.zeros(devices), costs.data == 0.0
    unit = float(mean.mean())
    return Costs(
        seconds=np.where(finite, costs.weight, mean[:, None]),
        mean=mean,
        source=np.ascontiguousarray(costs.source, np.int32),
        target=np.ascontiguousarray(costs.target, np.int32),
        first_in=first_in.astype(np.int32),
        inward=inward.astype(np.int32),
        first_out=first_out.astype(np.int32),
        outward=outward.astype(np.int32),
        amount=np.array(costs.data, np.float64),
        silent=np.array(silent, np.bool_),
        per_amount=1.0 / costs.bandwidth,
        per_message=costs.delay.copy() if costs.counts_delay else np.zeros((devices, devices)),
        cores=np.array(cores, np.int32),
        first_core=first_cores(of_device, cores),
        rest=np.array(rest, np.float64),
        unit=unit if unit > 0.0 else 1.0,
        is_pass=is_pass,
    )


def mean_messages(costs: Costs) -> Floats:
    """Return the mean cost of each stream between two different devices, (E,)."""
    devices = len(costs.per_amount)
    pairs = max(1, devices * (devices - 1))
    per_amount, per_message = (
        float(each.sum()) / pairs for each in (costs.per_amount, costs.per_message)
    )
    means: Floats = costs.amount * per_amount + np.where(costs.silent, 0.0, per_message)
    return means
