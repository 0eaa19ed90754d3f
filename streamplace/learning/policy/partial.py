"""Partial placements: what runs where and when so far, and what each device offers."""

from typing import NamedTuple, Self

import numpy as np

from streamplace.learning.policy.costs import DeviceCosts
from streamplace.problem.problem import Problem
from streamplace.scoring.compiled import parts_of_pass
from streamplace.sim.columns import by_operator
from streamplace.sim.cores import first_cores, free_from, keep_cores
from streamplace.sim.jit import bare, kernel
from streamplace.util.arrays import Bools, Floats, Ints

NOWHERE = -1

OF_PASS = (
    "load",  # work on the device
    "inputs",  # work of the operator's inputs on the device
    "first start",  # the earliest start of these inputs; 0 without any
    "last end",  # their latest end; 0 without any
    "earliest start",  # of the operator on the device
    "own",  # the operator's time on the device
)

OF_FLOW = (
    "used",  # utilisation of the device
    "inputs",  # utilisation of the device by the operator's inputs
    "into",  # utilisation of links by the streams that enter the device
    "out of",  # utilisation of links by the streams that leave it
    "then",  # utilisation of the device with the operator
    "own",  # utilisation of the device by the operator
)

OF_DEVICE = len(OF_PASS)

BEST = OF_PASS.index("earliest start")
"""The feature whose lowest value a rule prefers: the earliest start, or the least utilisation."""


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

    @classmethod
    def of(cls, problem: Problem) -> Self:
        """Return the costs of a problem.

        Messages take their mean time on the link, as if no other message delayed them. A message
        without bytes takes the latency, as in the engine; a stream that brings no message takes no
        time.

        Raises
        ------
        GraphError
            If loads overflow, or no tuple ever reaches a sink.
        """
        costs, at_rates = DeviceCosts.of(problem), problem.objective.has_rates
        operators, devices = costs.weight.shape
        finite = np.isfinite(costs.weight)
        known = np.where(finite, costs.weight, 0.0)
        mean = known.sum(axis=1) / np.maximum(finite.sum(axis=1), 1)
        first_in, inward = by_operator(costs.target, operators)
        first_out, outward = by_operator(costs.source, operators)
        if at_rates:
            cores, of_device = np.ones(operators, np.int32), np.ones(devices, np.int32)
            rest, silent = np.zeros(devices), costs.data == 0.0
        else:
            tasks = parts_of_pass(problem).tasks
            cores, of_device, rest = tasks.cores, tasks.device_cores, tasks.startup_s
            silent = tasks.silent
        unit = float(mean.mean())
        return cls(
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
            is_pass=not at_rates,
        )

    @property
    def mean_messages(self) -> Floats:
        """The mean cost of each stream between two different devices, (E,)."""
        devices = len(self.per_amount)
        pairs = max(1, devices * (devices - 1))
        per_amount, per_message = (
            float(each.sum()) / pairs for each in (self.per_amount, self.per_message)
        )
        means: Floats = self.amount * per_amount + np.where(self.silent, 0.0, per_message)
        return means

    def nothing_placed(self, samples: int) -> "Partial":
        """Return S placements without any operator."""
        operators, devices = self.seconds.shape
        inputs = np.diff(self.first_in)
        waiting = np.tile(inputs, (samples, 1)).astype(np.int32)
        return Partial(
            device=np.full((samples, operators), NOWHERE, np.int32),
            start=np.zeros((samples, operators)),
            end=np.zeros((samples, operators)),
            load=np.zeros((samples, devices)),
            free=np.zeros((samples, int(self.first_core[-1]))),
            into=np.zeros((samples, devices)),
            out_of=np.zeros((samples, devices)),
            waiting=waiting,
            candidate=waiting == 0,
        )


class Partial(NamedTuple):
    """S partial placements of one problem.

    Under throughput, an operator "starts" at the utilisation that its device had before, and "ends"
    at the one with it; `free` is the utilisation of each device.
    """

    device: Ints  # (S, V) device of each operator, or -1
    start: Floats  # (S, V)
    end: Floats  # (S, V)
    load: Floats  # (S, D) work on each device
    free: Floats  # (S, C) end of the last operator on each core, with its rest, sorted by device
    into: Floats  # (S, D) cost of the streams that enter each device
    out_of: Floats  # (S, D) cost of the streams that leave each device
    waiting: Ints  # (S, V) number of inputs that are not placed
    candidate: Bools  # (S, V) whether an operator is not placed, but all its inputs are

    def put(self, costs: Costs, operators: Ints, devices: Ints) -> None:
        """Place an operator, (S,), on a device, (S,), in each placement."""
        put_next(costs, self, operators, devices)

    def device_features(self, costs: Costs, operators: Ints) -> tuple[Floats, Floats]:
        """Return features of all devices for another operator, (S,), of each placement.

        Returns
        -------
        tuple
            The features, (S, D, 6), `OF_PASS` in seconds or `OF_FLOW`; and what is best where it is
            lowest, (S, D): the earliest start, or the utilisation with the operator.
        """
        features = np.empty((len(operators), costs.seconds.shape[1], OF_DEVICE))
        device_features(costs, self, operators, features)
        return features, features[:, :, BEST]


@kernel
def put_next(costs: Costs, partial: Partial, operators: Ints, devices: Ints) -> None:
    """Place an operator, (S,), on a device, (S,), in each placement."""
    for s in range(operators.shape[0]):
        v, d = operators[s], devices[s]
        start = earliest_start(costs, partial, s, v, d)
        partial.device[s, v], partial.start[s, v] = d, start
        partial.end[s, v] = start + costs.seconds[v, d]
        partial.load[s, d] += costs.seconds[v, d]
        rest = costs.rest[d] if costs.seconds[v, d] > 0.0 else 0.0
        released = partial.end[s, v] + rest
        keep_cores(partial.free[s], costs.first_core, d, costs.cores[v], released)
        partial.candidate[s, v] = False
        for i in range(costs.first_in[v], costs.first_in[v + 1]):
            e = costs.inward[i]
            a = partial.device[s, costs.source[e]]
            cost = message(costs, e, a, d)
            partial.into[s, d] += cost
            partial.out_of[s, a] += cost
        for i in range(costs.first_out[v], costs.first_out[v + 1]):
            w = costs.target[costs.outward[i]]
            partial.waiting[s, w] -= 1
            partial.candidate[s, w] = partial.waiting[s, w] == 0


@bare
def message(costs: Costs, e: int, a: int, b: int) -> float:
    """Return the cost of a stream from device a to device b; 0 within a device."""
    if a == b or costs.silent[e]:
        return 0.0
    return float(costs.amount[e] * costs.per_amount[a, b] + costs.per_message[a, b])


@bare
def earliest_start(costs: Costs, partial: Partial, s: int, v: int, d: int) -> float:
    """Return when operator v can start on device d: its cores are free and its inputs are there.

    Under throughput, it is the utilisation of the device.
    """
    moment = free_from(partial.free[s], costs.first_core, d, costs.cores[v])
    if costs.is_pass:
        for i in range(costs.first_in[v], costs.first_in[v + 1]):
            e = costs.inward[i]
            u = costs.source[e]
            arrival = partial.end[s, u] + message(costs, e, partial.device[s, u], d)
            moment = max(moment, arrival)
    return float(moment)


@kernel
def device_features(costs: Costs, partial: Partial, operators: Ints, features: Floats) -> None:
    """Fill in the features of all devices, (S, D, 6), for another operator, (S,), per placement.

    They are `OF_PASS` in seconds, or `OF_FLOW`.
    """
    for s in range(operators.shape[0]):
        v = operators[s]
        features[s] = 0.0
        for d in range(features.shape[1]):
            out = features[s, d]
            out[0], out[5] = partial.load[s, d], costs.seconds[v, d]
            if costs.is_pass:
                out[4] = earliest_start(costs, partial, s, v, d)
            else:
                out[2], out[3] = partial.into[s, d], partial.out_of[s, d]
                out[4] = partial.load[s, d] + costs.seconds[v, d]
        _describe_inputs(costs, partial, s, v, features[s])


@bare
def _describe_inputs(costs: Costs, partial: Partial, s: int, v: int, features: Floats) -> None:
    """Fill in what depends on the devices of the inputs of operator v."""
    for i in range(costs.first_in[v], costs.first_in[v + 1]):
        u = costs.source[costs.inward[i]]
        d = partial.device[s, u]
        is_again = False
        for j in range(costs.first_in[v], i):
            is_again = is_again or costs.source[costs.inward[j]] == u
        if is_again:
            continue
        is_first = True
        for j in range(costs.first_in[v], i):
            is_first = is_first and partial.device[s, costs.source[costs.inward[j]]] != d
        out = features[d]
        out[1] += costs.seconds[u, d]
        if costs.is_pass:
            out[2] = partial.start[s, u] if is_first else min(out[2], partial.start[s, u])
            out[3] = max(out[3], partial.end[s, u])
