"""Task graphs of `streamplace.sim.schedule` from JSON forms, as the plain engine reads them."""

from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from benchmarks.reference.schedule_inputs import Form, ScheduleInputs
from benchmarks.reference.schedule_problems import ScheduleForm
from streamplace.sim.flow import Floats, Ints
from streamplace.sim.rules import Rules
from streamplace.sim.schedule.passes import makespans, timetable
from streamplace.sim.schedule.ranks import by_rank, mean_messages, mean_seconds, upward_rank
from streamplace.sim.schedule.state import FIFO, RANKED, SEQUENCE, Order
from streamplace.sim.schedule.task_graph import (
    ALL,
    DEVICE,
    EGRESS,
    FREE,
    NIC,
    NONE,
    PAIR,
    TaskGraph,
)
from tests.support.schedule_comparison import Times

NETWORKS = {"free": FREE, "egress": EGRESS, "pair": PAIR, "nic": NIC}
MULTICASTS = {"none": NONE, "device": DEVICE, "all": ALL}
BIT, NOTHING = Fraction(1, 8), Fraction(0)  # bytes


class TaskProblem(NamedTuple):
    """A problem of `streamplace.sim.schedule`, and the placement of its form."""

    inputs: ScheduleInputs
    tasks: TaskGraph
    rules: Rules
    order: Order
    devices: Ints


def task_problem(form: ScheduleForm) -> TaskProblem:
    """Return the problem of a form. An operator may run where it has a time and a label allows."""
    inputs = ScheduleInputs(**form)
    tasks = _tasks(inputs)
    rules = _rules(form["graph"], inputs, tasks)
    return TaskProblem(
        inputs, tasks, rules, _order(inputs, tasks, rules), np.array(inputs.place, np.int32)
    )


def fast_engine(graph: Form, cluster: Form, settings: Form, placement: Form) -> tuple[Times, Times]:
    """Return the starts and finishes of a problem by the fast engine, which agrees with itself."""
    problem = task_problem(
        {
            "graph": dict(graph),
            "cluster": dict(cluster),
            "settings": dict(settings),
            "placement": dict(placement),
        }
    )
    found = timetable(problem.tasks, problem.order, problem.devices)
    alone = makespans(problem.tasks, problem.order, problem.devices[None])
    assert alone.tolist() == [found.makespan]
    path = found.critical_path
    assert path[0].start == 0.0
    assert path[-1].end == found.makespan
    names = problem.inputs.names
    return (
        dict(zip(names, found.start.tolist(), strict=True)),
        dict(zip(names, found.end.tolist(), strict=True)),
    )


def _tasks(inputs: ScheduleInputs) -> TaskGraph:
    count = len(inputs.devices)
    pairs = [[inputs.crossing(a, b, BIT) for b in range(count)] for a in range(count)]
    overhead = [[inputs.crossing(a, b, NOTHING) for b in range(count)] for a in range(count)]
    seconds = [[inputs.seconds(v, d) for d in range(count)] for v in range(len(inputs.operators))]
    is_nic = inputs.link_kind == "nic"
    receivers = pairs[0] if is_nic else []
    return TaskGraph(
        work=np.zeros(len(inputs.operators)),
        cores=np.array([o.get("cores", 1) for o in inputs.operators], np.int32),
        source=np.array([s.source for s in inputs.streams], np.int32),
        target=np.array([s.target for s in inputs.streams], np.int32),
        bits=np.array([float(8 * inputs.size(e)) for e in range(len(inputs.streams))]),
        silent=np.array([inputs.is_free(e) for e in range(len(inputs.streams))], np.bool_),
        speed=np.ones(count),
        device_cores=np.array([d.get("cores", 1) for d in inputs.devices], np.int32),
        startup_s=np.array([float(d.get("startup_s", 0)) for d in inputs.devices]),
        kind=np.arange(count, dtype=np.int32),
        measured_row=np.arange(len(inputs.operators), dtype=np.int32),
        measured_s=np.array([[np.inf if s is None else float(s) for s in row] for row in seconds]),
        network=NETWORKS[inputs.link_kind],
        multicast=MULTICASTS[inputs.multicast],
        rate=_rates([c.transfer_s for row in pairs for c in row]),
        latency_s=np.array([float(c.latency_s) for row in pairs for c in row]),
        gap_s=np.array([float(c.gap_s) for row in pairs for c in row]),
        overhead_s=np.array([float(c.send_s) for row in overhead for c in row]),
        overhead_in_s=np.array([float(c.receive_s) for row in overhead for c in row]),
        overhead_s_per_bit=np.array(
            [
                float(of_bit[0].send_s - alone[0].send_s)
                for of_bit, alone in zip(pairs, overhead, strict=True)
            ]
        ),
        rate_in=_rates([c.receive_transfer_s for c in receivers]),
        gap_in_s=np.array([float(c.receive_gap_s) for c in receivers]),
        barrier=inputs.barrier,
    )


def _rates(seconds_per_bit: Iterable[Fraction]) -> Floats:
    return np.array([float(1 / seconds) if seconds else np.inf for seconds in seconds_per_bit])


def _rules(graph: Form, inputs: ScheduleInputs, tasks: TaskGraph) -> Rules:
    """Return rules without rivals, in which colocated operators are a unit; memory is limited."""
    devices = tasks.devices
    labels = [set(device.get("labels", ())) for device in inputs.devices]
    required = [set(operator.get("requires", ())) for operator in inputs.operators]
    carries = np.array([[wanted <= has for has in labels] for wanted in required])
    unit_of = _units(graph, inputs.names)
    units = int(unit_of.max()) + 1
    allowed = np.ones((units, devices), np.bool_)
    np.logical_and.at(allowed, unit_of, np.isfinite(tasks.measured_s) & carries)
    memory = [float(operator.get("memory_bytes", 0)) for operator in inputs.operators]
    limits = [device.get("memory_bytes") for device in inputs.devices]
    room = [np.inf if limit is None else float(limit) for limit in limits]
    return Rules(
        unit_of=unit_of,
        row_of=np.arange(units, dtype=np.int32),
        allowed=allowed,
        needs=np.bincount(unit_of, memory)[:, None].astype(np.float64),
        room=np.array(room)[:, None],
        first_rival=np.zeros(units + 1, np.int32),
        rival=np.zeros(0, np.int32),
        far=np.zeros(0, np.bool_),
        group_of=np.arange(devices, dtype=np.int32),
    )


def _units(graph: Form, names: list[str]) -> Ints:
    """Return the unit of each operator, (V,); units are numbered by their first operators."""
    first = {name: v for v, name in enumerate(names)}
    for group in (graph.get("constraints") or {}).get("colocate", ()):
        lowest = min(first[name] for name in group)
        first |= dict.fromkeys(group, lowest)
    return np.unique([first[name] for name in names], return_inverse=True)[1].astype(np.int32)


def _order(inputs: ScheduleInputs, tasks: TaskGraph, rules: Rules) -> Order:
    indices = np.arange(tasks.operators, dtype=np.int32)
    sequence = np.array(inputs.order, np.int32)
    if inputs.order_name == "fifo":
        return Order(FIFO, indices, indices)
    if inputs.order_name == "b-level":
        sequence = by_rank(heft_rank(tasks, rules))
    elif inputs.order_name == "sequence" and inputs.barrier:
        sequence = sequence[np.argsort(tasks.level[sequence], kind="stable")]
    position = np.empty_like(indices)
    position[sequence] = indices
    return Order(SEQUENCE if inputs.order_name == "sequence" else RANKED, position, sequence)


def heft_rank(tasks: TaskGraph, rules: Rules) -> Floats:
    """Return HEFT's upward rank of each operator, (V,) seconds."""
    row_of = rules.row_of[rules.unit_of]
    seconds = mean_seconds(tasks, rules.allowed, row_of)
    return upward_rank(tasks, seconds, mean_messages(tasks, rules.allowed, row_of))
