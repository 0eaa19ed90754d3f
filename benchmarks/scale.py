"""`multilevel` against METIS, KaHIP and Mt-KaHyPar on large graphs.

    python -m benchmarks.scale [--largest N] [--only PART …]

PART `graphs` compares graphs of 10^3 to 10^5 operators, `others` compares other clusters, and
`alone` measures memory on large graphs.

The total CPU work is 0.8 of the cluster's capacity, and the bandwidth is set so that the busiest
link has a utilisation of 1.2 under METIS k-way. Relative throughput is not capped at 1: it is 1 /
the largest utilisation, so CPU work alone allows 1.25. Seconds are CPU seconds of one core from a
checked problem to a placement, medians of interleaved rounds. Memory is the peak of a separate
process, which includes Python and the graph. KaHIP does not run on 10^6 operators, where it takes
minutes.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial

import numpy as np

from benchmarks.large_graphs import PRESETS, Setting, prepared, relative
from benchmarks.partitioners import Partitioner, partitioners, placed
from benchmarks.speed import report
from streamplace import Problem
from streamplace.execution.calls import peak_bytes
from streamplace.problem.cluster import NetworkKind
from streamplace.util.arrays import Ints

MULTILEVEL, METIS = "multilevel", "METIS k-way"
GRAPHS = {10**3: 10, 10**4: 6, 10**5: 2}  # graphs per preset, by number of operators
ROUNDS = {10**3: 3, 10**4: 3, 10**5: 1}
LARGEST = 10**6
PARTS = "graphs", "others", "alone"
TIMES_METIS = {10**4: 3, 10**5: 8}  # targets: CPU seconds relative to METIS k-way
SEED = 7000  # not used for tuning
OTHERS: tuple[tuple[str, str, NetworkKind], ...] = (
    ("2 devices", "2x2500", "pair"),
    ("128 devices", "128x2500", "pair"),
    ("unequal devices", "4x6000,12x1500", "pair"),
    ("interfaces (nic)", "16x2500", "nic"),
)


def main() -> None:
    """Print the tables, and figures with their targets."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--largest",
        type=int,
        default=LARGEST,
        metavar="N",
        help="operators of the largest graph; default: 1000000",
    )
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, default=PARTS, help="parts to run; default: all"
    )
    parser.add_argument("--alone", metavar="JSON", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        print(json.dumps(measured_alone(**json.loads(options.alone))))
        return
    placers = all_placers()
    missing = {"KaHIP eco", "Mt-KaHyPar"} - set(placers)
    if missing:
        print(f"not installed, skipped: {', '.join(sorted(missing))}\n")
    for name, placer in placers.items():
        timed(placer, prepared(Setting("layered", 100, 0))[1])
        print(f"ready: {name}", file=sys.stderr)
    if "graphs" in options.only:
        compared = [Compared(preset, count, placers) for count in GRAPHS for preset in PRESETS]
        print_throughput(compared, placers)
        print_seconds(compared, placers)
        print_targets_of_graphs(compared)
    if "others" in options.only:
        print_others(placers)
    if "alone" in options.only:
        alone = print_alone(placers, options.largest)
        print_targets_of_largest(alone, options.largest)


def all_placers() -> dict[str, Partitioner]:
    """Return `multilevel` and the other partitioners, by name."""
    return {MULTILEVEL: partial(placed, MULTILEVEL), **partitioners()}


def timed(placer: Partitioner, problem: Problem) -> tuple[Ints, float]:
    """Return the devices, (V,), and the CPU seconds."""
    started = time.process_time()
    devices = placer(problem)
    return devices, time.process_time() - started


class Compared:
    """Results of all placers on graphs of one preset and size.

    Attributes
    ----------
    reached, seconds
        Relative throughput and CPU seconds on each graph, by placer.
    """

    def __init__(self, preset: str, count: int, placers: dict[str, Partitioner]) -> None:
        self.preset, self.count = preset, count
        self.reached: dict[str, list[float]] = {name: [] for name in placers}
        self.seconds: dict[str, list[float]] = {name: [] for name in placers}
        for number in range(GRAPHS[count]):
            setting, problem = prepared(Setting(preset, count, SEED + number))
            spent: dict[str, list[float]] = {name: [] for name in placers}
            for turn in range(ROUNDS[count]):
                for name, placer in placers.items():
                    fresh = setting.problem(problem.graph)  # a new problem has nothing cached
                    devices, seconds = timed(placer, fresh)
                    spent[name].append(seconds)
                    if turn == 0:
                        self.reached[name].append(relative(problem, devices))
            for name, seconds_of in spent.items():
                self.seconds[name].append(statistics.median(seconds_of))
            print(f"{preset} {count} {number}", file=sys.stderr)

    @property
    def title(self) -> str:
        """Size and preset, as a table shows them."""
        return f"10^{round(math.log10(self.count))} {self.preset}"

    @property
    def of_best(self) -> list[float]:
        """Throughput of `multilevel` / that of the best other placer, on each graph."""
        others = [reached for name, reached in self.reached.items() if name != MULTILEVEL]
        best = np.max(others, axis=0)
        return [float(x) for x in np.array(self.reached[MULTILEVEL]) / best]

    @property
    def of_best_mean(self) -> float:
        """Mean throughput of `multilevel` / the best mean of another placer."""
        means = {name: statistics.mean(reached) for name, reached in self.reached.items()}
        return means.pop(MULTILEVEL) / max(means.values())

    @property
    def times_metis(self) -> list[float]:
        """CPU seconds of `multilevel` / those of METIS k-way, on each graph."""
        pairs = zip(self.seconds[MULTILEVEL], self.seconds[METIS], strict=True)
        return [multilevel / metis for multilevel, metis in pairs]


def print_throughput(compared: Sequence[Compared], placers: dict[str, Partitioner]) -> None:
    """Print mean relative throughput, and `multilevel` relative to the best other placer."""
    columns = [
        *placers,
        f"{MULTILEVEL} / best other mean",
        *(f"{MULTILEVEL} / best other, {x} over graphs" for x in ("mean", "minimum")),
    ]
    print_head(f"relative throughput, mean; {list(GRAPHS.values())} graphs", columns)
    for each in compared:
        cells = [f"{statistics.mean(each.reached[name]):.3f}" for name in placers]
        of_best = each.of_best
        cells += [f"{each.of_best_mean:.3f}", f"{statistics.mean(of_best):.3f}"]
        print_row(each.title, [*cells, f"{min(of_best):.3f}"])


def print_seconds(compared: Sequence[Compared], placers: dict[str, Partitioner]) -> None:
    """Print median CPU seconds, and those of `multilevel` relative to METIS k-way."""
    columns = [*placers, f"{MULTILEVEL} / METIS k-way, median", "mean", "maximum"]
    print_head("CPU seconds, median", columns)
    for each in compared:
        cells = [f"{statistics.median(each.seconds[name]):.3g}" for name in placers]
        times = each.times_metis
        cells += [f"{f(times):.2f}" for f in (statistics.median, statistics.mean, max)]
        print_row(each.title, cells)


def print_others(placers: dict[str, Partitioner]) -> None:
    """Print relative throughput on other clusters, with one graph of 10^4 operators per row."""
    print_head("relative throughput, 10^4", [*placers])
    for title, devices, network in OTHERS:
        for preset in PRESETS:
            _, problem = prepared(Setting(preset, 10**4, SEED, devices, network))
            reached = [relative(problem, placer(problem)) for placer in placers.values()]
            print_row(f"{title}, {preset}", [f"{x:.3f}" for x in reached])


def print_alone(
    placers: dict[str, Partitioner], largest: int
) -> dict[tuple[int, str], dict[str, float]]:
    """Measure placements in separate processes; return the figures of `multilevel`."""
    print_head("one placement", ["relative throughput", "CPU s", "peak MB", "peak MB before it"])
    by_case = {}
    for count in (10**5, largest):
        for preset in PRESETS:
            setting, _ = prepared(Setting(preset, count, SEED))
            for name in placers:
                if name.startswith("KaHIP") and count > 10**5:
                    continue
                job = json.dumps({"name": name, **vars(setting)})
                command = [sys.executable, "-m", "benchmarks.scale", "--alone", job]
                answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                figures = json.loads(answer.splitlines()[-1])
                formats = (".3f", ".2f", ",.0f", ",.0f")
                cells = [f"{x:{f}}" for x, f in zip(figures.values(), formats, strict=True)]
                print_row(f"{name}, {count:,} {preset}", cells)
                if name == MULTILEVEL:
                    by_case[count, preset] = figures
    return by_case


def measured_alone(name: str, **setting: object) -> dict[str, float]:
    """Place one graph; return relative throughput, CPU seconds and peak memory in MB."""
    job = Setting(**setting)  # type: ignore[arg-type]  # fields of a `Setting`, through JSON
    placer = all_placers()[name]
    timed(placer, Setting("layered", 100, 0).problem(Setting("layered", 100, 0).graph()))
    problem = job.problem(job.graph())
    before = peak_bytes() / 1024**2
    devices, seconds = timed(placer, problem)
    peak = peak_bytes() / 1024**2
    reached = relative(problem, devices)
    return {"reached": reached, "seconds": seconds, "peak": peak, "before": before}


def print_targets_of_graphs(compared: Sequence[Compared]) -> None:
    """Print the figures of graphs up to 10^5 operators with their targets."""
    print()
    for each in compared:
        gain, minimum = each.of_best_mean, min(each.of_best)
        title = f"{each.title}, {MULTILEVEL} / best other"
        report(f"{title} mean", f"{gain:.3f}", "1.25", gain >= 1.25)
        report(f"{title}, minimum", f"{minimum:.3f}", "1", minimum >= 1.0)
        allowed = TIMES_METIS.get(each.count)
        if allowed is not None:
            times = statistics.median(each.times_metis)
            report(
                f"{each.title}, CPU s / METIS k-way", f"{times:.2f}", f"{allowed}", times <= allowed
            )


def print_targets_of_largest(alone: dict[tuple[int, str], dict[str, float]], largest: int) -> None:
    """Print the figures of the largest graphs with their targets."""
    print()
    for preset in PRESETS:
        figures, smaller = alone[largest, preset], alone[10**5, preset]
        seconds, peak = figures["seconds"], figures["peak"] / 1024
        growth = seconds / smaller["seconds"] / (largest / 10**5)
        report(f"{largest:,} {preset}, CPU s", f"{seconds:.1f}", "30", seconds <= 30)
        report(f"{largest:,} {preset}, peak GB", f"{peak:.2f}", "4", peak <= 4)
        report(f"{preset}, s per operator / that at 10^5", f"{growth:.2f}", "2", growth <= 2)


def print_head(first: str, columns: Sequence[str]) -> None:
    """Print the head of a Markdown table."""
    print(f"\n| {first} | {' | '.join(columns)} |")
    print("|---" + "|---:" * len(columns) + "|")


def print_row(first: str, cells: Sequence[str]) -> None:
    """Print a row of a Markdown table."""
    print(f"| {first} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
