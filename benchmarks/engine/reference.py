"""Errors of the engine relative to reference runs of CEPSim."""

import argparse
import csv
import statistics
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.engine import RATE
from benchmarks.speed import report
from streamplace import Cluster, Network, Placement, Problem, StreamGraph, read_dataset
from streamplace.sim.engine import Settings
from streamplace.ticks import runs


@dataclass(frozen=True)
class Column:
    """A column of the reference runs: the settings that it was simulated with, and the targets.

    Parameters
    ----------
    settings
        Settings of the engine. Throughput is measured up to second 60, from `measure_from_s` on.
    bandwidth_mbps
        Bandwidth of every pair link; None means unlimited.
    mean, largest
        Targets for the mean and the largest absolute error of relative throughput.
    latency
        Name of the column with latencies (ms), which cover all 61 seconds.
    """

    settings: Settings
    bandwidth_mbps: float | None
    mean: float
    largest: float | None = None
    latency: str | None = None


CPU_ONLY, LINKS = None, 1000.0  # bandwidths in Mbps
NO_BACKPRESSURE = Settings(
    duration_s=60.0, measure_from_s=20.0, backpressure=False, source_wait=False
)
IN_FLIGHT_COUNTED = Settings(duration_s=60.0, measure_from_s=30.0, tick_s=0.01)
DYNAMIC = replace(NO_BACKPRESSURE, scheduler="dynamic", allocation="uniform")
COLUMNS = {
    "thr_fixed_cpu_defw": Column(NO_BACKPRESSURE, CPU_ONLY, 0.003, 0.03),
    "thr_pairnet_defw": Column(NO_BACKPRESSURE, LINKS, 0.003, 0.03),
    "thr_pairnet_credit_defw": Column(IN_FLIGHT_COUNTED, LINKS, 0.003, 0.03),
    "thr_fixed_cpu_dyn": Column(DYNAMIC, CPU_ONLY, 0.007),
    "thr_pairnet_dyn": Column(DYNAMIC, LINKS, 0.007, latency="latency_ms_pairnet_dyn"),
}


def reference(arguments: argparse.Namespace) -> None:
    """Compare the engine with CEPSim's runs."""
    runs_of, graphs_of = (
        arguments.shared / name for name in ("cepsim/reference.csv", "dream/graphs.jsonl.gz")
    )
    if not (runs_of.exists() and graphs_of.exists()):
        print(f"no reference runs in {arguments.shared} (see --shared): part skipped")
        return
    graphs = {graph.name: graph for graph in read_dataset(graphs_of)}
    with runs_of.open() as file:
        rows = [row for row in csv.DictReader(file) if graph_name(row) in graphs]
    for name, column in COLUMNS.items():
        compare_column(name, column, rows, graphs)


def graph_name(row: dict[str, str]) -> str:
    """Return the name of a row's graph."""
    return f"graph_{row['graph_id']}"


def compare_column(
    name: str, column: Column, rows: list[dict[str, str]], graphs: dict[str, StreamGraph]
) -> None:
    """Print the errors of the engine relative to a column of CEPSim's runs."""
    cluster = Cluster.equal(5, network=Network(bandwidth_mbps=column.bandwidth_mbps))
    errors, latencies = [], []
    for row in rows:
        try:
            expected = float(row[name])
        except ValueError:  # CEPSim did not finish this run
            continue
        problem = Problem(graphs[graph_name(row)], cluster, source_rate=RATE)
        placement = Placement(problem, [int(device) for device in row["placement"].split()])
        metrics = runs.run(placement, column.settings)
        errors.append(abs(metrics.throughput - expected) / RATE)
        if column.latency:
            full_run = replace(column.settings, duration_s=61.0, measure_from_s=0.0)
            latency = runs.run(placement, full_run).latency_s()
            if latency is not None and row[column.latency]:
                latencies.append(abs(1e3 * latency["mean"] / float(row[column.latency]) - 1.0))
    mean, largest = float(np.mean(errors)), max(errors)
    title = f"{name}, {len(errors)} runs: mean error"
    report(title, f"{mean:.5f}", f"{column.mean}", mean <= column.mean)
    if column.largest is not None:
        count = sum(error > column.largest for error in errors)
        text = f"{largest:.4f} ({count} above)"
        report("  largest error", text, f"{column.largest}", largest <= column.largest)
    if latencies:
        median = statistics.median(latencies)
        report(f"{column.latency}: median", f"{median:.1%}", "10%", median <= 0.1)
