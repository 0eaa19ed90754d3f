"""Tables of ranks: T2 and T3 of the paper's appendix A, and T4.

T2 is a pipeline of four operators, on one device (P1) or on four (P2). With HIGH work an operator
needs a whole device; BIG payloads are 25 kB. In T3 a source feeds two branches of two operators,
any two of which nearly fill a device: each branch on one device (P1), both heavy streams in the
same direction (P2), or one in each direction (P3); BIG payloads are 40 kB. T4 is not from the
paper and distinguishes NICs from pair links: one device feeds two others (P1), or another one and
itself (P2).
"""

import argparse
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from benchmarks.testbed import disturbance
from benchmarks.testbed.calibration import calibrate
from benchmarks.testbed.comparing import Compared, compare, relation
from benchmarks.testbed.emulator import Emulator
from benchmarks.testbed.scaling import Machine, Scaled, scale
from streamplace import Cluster, Device, Network, Operator, Problem, Stream, StreamGraph
from streamplace.problem.cluster import NetworkKind

RATE, MIPS, LINK_MBPS = 200.0, 500.0, 20.0  # tuples/s; speed of a device; bandwidth of a link
FULL = MIPS * 1e6 / RATE  # instructions per tuple that need a whole device
LIGHT = 0.05  # share of a device
SMALL, BIG_T2, BIG_T3, BIG_T4 = 100.0, 25_000.0, 40_000.0, 12_500.0  # bytes
END = 0.002 * FULL  # instructions per tuple of the source and of the sink
SHORT = ("T2", "T3")
WARM_S, MEASURED_S = 3.0, 4.0


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Parameters
    ----------
    placements
        The device of each operator, (V,), by the name of the placement.
    expected
        Relations of the throughputs of placements, such as ``P1<P2``.
    """

    table: str
    case: str
    graph: StreamGraph
    kind: NetworkKind
    placements: Mapping[str, list[int]]
    expected: tuple[str, ...]

    def holds(self, reached: Mapping[str, float]) -> bool:
        """Return whether the throughputs are ranked as expected."""
        relations = ((text[:2], text[2], text[3:]) for text in self.expected)
        return all(relation(reached[a], reached[b]) == sign for a, sign, b in relations)


def rows() -> list[Row]:
    """Return the rows of all tables."""
    return [*_t2(), *_t3(), *_t4()]


def _t2() -> Iterator[Row]:
    spread = {"P1": [0, 1, 1, 1, 1, 1], "P2": [0, 1, 2, 3, 4, 4]}
    for work, share, size, payload, expected in (
        ("HIGH", 1.0, "BIG", BIG_T2, "P1<P2"),
        ("HIGH", 1.0, "SMALL", SMALL, "P1<P2"),
        ("LOW", LIGHT, "BIG", BIG_T2, "P1>P2"),
        ("LOW", LIGHT, "SMALL", SMALL, "P1=P2"),
    ):
        graph = pipeline(share, payload)
        yield Row("T2", f"{work} {size}", graph, "nic", spread, (expected,))


def _t3() -> Iterator[Row]:
    ways = {"P1": [2, 0, 1, 0, 1, 2], "P2": [2, 0, 0, 1, 1, 2], "P3": [2, 0, 1, 1, 0, 2]}
    ranks = {"BIG": ("P1>P3", "P3>P2", "P1>P2"), "SMALL": ("P1=P2", "P2=P3", "P1=P3")}
    for size, payload in (("BIG", BIG_T3), ("SMALL", SMALL)):
        yield Row("T3", size, branches(payload), "nic", ways, ranks[size])


def _t4() -> Iterator[Row]:
    kinds: tuple[NetworkKind, ...] = ("nic", "pair")
    for kind in kinds:
        sign = "<" if kind == "nic" else "="
        yield Row("T4", kind, fork(), kind, {"P1": [0, 1, 2], "P2": [0, 1, 0]}, (f"P1{sign}P2",))


def pipeline(share: float, payload: float) -> StreamGraph:
    """Return T2's graph, in which each of the four operators needs this share of a device."""
    names = ["source", "op1", "op2", "op3", "op4", "sink"]
    middle = [Operator(name, share * FULL, payload) for name in names[1:5]]
    ends = [Operator("source", END, SMALL), Operator("sink", END, SMALL)]
    streams = [Stream(a, b) for a, b in pairwise(names)]
    return StreamGraph([ends[0], *middle, ends[1]], streams, source_rate=RATE)


def branches(payload: float) -> StreamGraph:
    """Return T3's graph, with this payload (bytes) of the first operator of each branch."""
    sizes = {"op1": payload, "op2": payload, "op3": SMALL, "op4": SMALL}
    middle = [Operator(name, 0.9 * FULL, size) for name, size in sizes.items()]
    ends = [Operator("source", END, SMALL), Operator("sink", END, SMALL)]
    pairs = (("op1", "op3"), ("op2", "op4"), ("op3", "sink"), ("op4", "sink"))
    split = [Stream("source", name, 0.5) for name in ("op1", "op2")]
    streams = [*split, *(Stream(a, b) for a, b in pairs)]
    return StreamGraph([ends[0], *middle, ends[1]], streams, source_rate=RATE)


def fork() -> StreamGraph:
    """Return T4's graph: two streams that each fill a link."""
    operators = [Operator(name, END, BIG_T4) for name in ("source", "left", "right")]
    streams = [Stream("source", "left"), Stream("source", "right")]
    return StreamGraph(operators, streams, source_rate=RATE)


def scaled(row: Row, machine: Machine) -> Scaled:
    """Return a row's problem as it runs: a fifth of a core per device, and unscaled links."""
    network = Network(row.kind, bandwidth_mbps=LINK_MBPS)
    cluster = Cluster([Device(f"d{d}", MIPS) for d in range(5)], network)
    unscaled = replace(machine, mbps=1000.0, tuples_s=RATE)
    return scale(Problem(row.graph, cluster), unscaled)


def run(arguments: argparse.Namespace) -> int:
    """Print the tables; return 0 if all ranks hold every time, simulated and measured."""
    selected = [row for row in rows() if row.table in arguments.only]
    good = True
    for time in range(arguments.times):
        begin = disturbance.times()
        machine = calibrated_machine(Machine())
        print(f"\n| run {time + 1} | network | expected | {' | '.join(COLUMNS)} | holds |")
        print("|---" * (len(COLUMNS) + 4) + "|")
        with ExitStack() as stack:
            emulators: dict[NetworkKind, Emulator] = {}
            for row in selected:
                small = scaled(row, machine)
                if row.kind not in emulators:
                    made = Emulator(row.kind, small.shares, small.mbps)
                    emulators[row.kind] = stack.enter_context(made)
                good &= measure_row(row, small, emulators[row.kind])
        print(f"\n{disturbance.times().since(begin)}\n", flush=True)
    print(f"all ranks hold: {'yes' if good else 'NO'}")
    return 0 if good else 1


COLUMNS = ("closed form", "engine", "measured")


def measure_row(row: Row, small: Scaled, emulator: Emulator) -> bool:
    """Run and print a row; return whether its ranks hold in every column."""
    results = {
        name: compare(emulator, small, np.array(devices, dtype=np.int32), WARM_S, MEASURED_S)
        for name, devices in row.placements.items()
    }
    reached = [_column(results, name) for name in ("closed", "engine", "measured")]
    good = [row.holds(column) for column in reached]
    cells = [", ".join(f"{rate * RATE:.1f}" for rate in column.values()) for column in reached]
    verdict = "yes" if all(good) else "NO"
    ranks = ", ".join(row.expected)
    line = f"{row.table} {row.case} | {row.kind} | {ranks} | {' | '.join(cells)} | {verdict}"
    print(f"| {line} |", flush=True)
    return all(good)


def _column(results: Mapping[str, Compared], which: str) -> dict[str, float]:
    return {name: float(getattr(one, which)) for name, one in results.items()}


def calibrated_machine(machine: Machine) -> Machine:
    """Calibrate the machine and print the result; return the machine with it."""
    calibration = calibrate(machine)
    print(calibration, flush=True)
    return calibration.applied_to(machine)
