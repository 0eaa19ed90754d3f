"""An independent check of constraints, labels and limits of devices, by the names in a problem.

It shares no code with `streamplace.problem.feasibility`. Amounts are added up as the decimal
fractions that they are written as.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import isnan, lcm

import numpy as np

from streamplace import Device, Operator, Problem
from streamplace.util.arrays import Bools, Ints


def obeying(problem: Problem, rows: Ints) -> Bools:
    """Return which placements, (K, V) device indices, obey every rule of a problem."""
    graph, devices = problem.graph, problem.cluster.devices
    rules, names = problem.constraints, [device.name for device in devices]
    column = {operator.name: rows[:, v] for v, operator in enumerate(graph.operators)}
    fine: Bools = np.ones(len(rows), dtype=np.bool_)
    for operator in graph.operators:
        carriers = [
            d
            for d, one in enumerate(devices)
            if {*operator.requires} <= {*one.labels} and _runs_on(operator, one)
        ]
        fine &= np.isin(column[operator.name], carriers)
    for name, where in (*rules.allowed.items(), *((v, [d]) for v, d in rules.pins.items())):
        fine &= np.isin(column[name], [names.index(d) for d in where])
    for group in rules.colocate:
        for name in group:
            fine &= column[name] == column[group[0]]
    for group in rules.exlocate:
        fine &= _differ([column[name] for name in {*group}])
    racks = [device.group or ("", device.name) for device in devices]
    number = np.array([racks.index(rack) for rack in racks])
    for group in rules.apart_groups:
        fine &= _differ([number[column[name]] for name in {*group}])
    for d, device in enumerate(devices):
        if device.memory_bytes is not None:
            needs = [operator.memory_bytes for operator in graph.operators]
            fine &= _fits(rows == d, needs, device.memory_bytes)
        if device.slots is not None:
            fine &= (rows == d).sum(axis=1) <= device.slots
        for name in {name for operator in graph.operators for name in operator.resources}:
            needs = [operator.resources.get(name, 0.0) for operator in graph.operators]
            fine &= _fits(rows == d, needs, device.resources.get(name, 0.0))
    return fine


def _runs_on(operator: Operator, device: Device) -> bool:
    """Return whether an operator has a time, or else instructions, for a device's kind."""
    if device.kind is not None and device.kind in operator.seconds_on:
        return operator.seconds_on[device.kind] is not None
    return not isnan(operator.instructions)


def _differ(columns: Sequence[Ints]) -> Bools:
    """Return in which rows no two columns are equal."""
    table = np.sort(np.stack(columns, axis=1), axis=1)
    differ: Bools = (np.diff(table, axis=1) != 0).all(axis=1)
    return differ


def _fits(here: Bools, needs: Sequence[float], room: float) -> Bools:
    """Return in which rows the operators on a device, (K, V) bool, need no more than its room."""
    amounts = [Fraction(repr(float(amount))) for amount in (*needs, room)]
    scale = lcm(*(amount.denominator for amount in amounts))
    *counts, available = (int(amount * scale) for amount in amounts)
    fits: Bools = here @ np.array(counts) <= available
    return fits
