"""Load: many graphs, large graphs, and killed workers.

Memory is that of whole processes as counted by the kernel, including Python and its libraries.
"""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.hardening.campaigns.load.worker_loss import BACKENDS, lost_workers
from benchmarks.hardening.harness.measured_commands import MIB, Usage, run_measured
from benchmarks.hardening.harness.rows import Row

GRAPHS = 20_000
PLACERS = "metis,round-robin"
COMPARE_MIB, TOGETHER_MIB = 300, 700  # limits of `compare`: of one process, of all together
BYTES_PER_GRAPH = 3_000
"""Bytes for the results of one graph: its name, and three numbers per placer."""
OPERATORS = 1_000_000
PLACE_MIB, WRITE_MIB = 1_200, 2_000  # limits of `place`: without and with writing the placement
NOISE_MIB = 8  # by which the peak memory of equal runs may differ


def run(share: float = 1.0, seed: int = 0) -> Iterator[Row]:
    """Yield rows on memory and on killed workers."""
    with TemporaryDirectory(prefix="streamplace-load-") as name:
        folder = Path(name)
        yield many_graphs(folder, max(400, round(GRAPHS * share)), seed)
        yield from large_graph(folder, max(10_000, round(OPERATORS * share)), seed)
    for backend in BACKENDS:
        yield lost_workers(backend, share, seed)


def many_graphs(folder: Path, count: int, seed: int) -> Row:
    """Compare placers on many graphs and on a quarter as many; check that memory is bounded."""
    peaks, faults = [], []
    wrong = {"failures": 0, "over the memory limit": 0, "memory grows with the graphs": 0}
    for number in (count // 4, count):
        dataset = folder / f"{number}.jsonl.gz"
        _run("generate", "dream", "--count", number, "--seed", seed, "--jobs", 2, "-o", dataset)
        words = ("compare", dataset, "--placers", PLACERS, "--jobs", 2, "-o", folder / "table")
        used = run_measured(*words, data_bytes=TOGETHER_MIB * MIB)
        if used.code:
            wrong["failures"] += 1
            faults.append(f"{number} graphs: exit {used.code}: {used.err.strip()[-300:]}")
        if used.largest_bytes > COMPARE_MIB * MIB or used.together_bytes > TOGETHER_MIB * MIB:
            wrong["over the memory limit"] += 1
            faults.append(f"{number} graphs: {_peaks(used)}")
        peaks.append(used)
    quarter, full = peaks
    growth = full.largest_bytes - quarter.largest_bytes
    if growth > BYTES_PER_GRAPH * (count - count // 4) + NOISE_MIB * MIB:
        wrong["memory grows with the graphs"] += 1
        faults.append(f"{growth:,} bytes more for {count} graphs than for {count // 4}")
    figures = {
        "largest process": f"{full.largest_bytes // MIB} MiB (at most {COMPARE_MIB})",
        "all processes": f"{full.together_bytes // MIB} MiB (at most {TOGETHER_MIB})",
        "with a quarter of the graphs": f"{quarter.largest_bytes // MIB} MiB",
        "CPU": f"{full.cpu_seconds:.0f} s",
    }
    return Row(
        f"graphs compared by one `compare`: {PLACERS}, 2 processes", count, wrong, figures, faults
    )


def large_graph(folder: Path, count: int, seed: int) -> Iterator[Row]:
    """Place a large graph, with and without writing the placement; check that memory is bounded."""
    graph = folder / "layered.npz"
    options = ("--operators", count, "--seed", seed, "-o", graph)
    _run("generate", "layered", "--count", 1, *options)
    words = ("place", graph, "--devices", "16x2500", "--source-rate", 1e4, "--placer", "multilevel")
    for more, limit_mib in (((), PLACE_MIB), (("-o", folder / "placement.json"), WRITE_MIB)):
        used = run_measured(*words, *more, data_bytes=limit_mib * MIB)
        what = f"operators placed by one `place{' -o placement.json' if more else ''}`"
        wrong = {
            "failures": int(used.code != 0),
            "over the memory limit": int(used.together_bytes > limit_mib * MIB),
        }
        faults = [f"exit {used.code}: {used.err.strip()[-300:]}"] if used.code else []
        if wrong["over the memory limit"]:
            faults.append(_peaks(used))
        figures = {
            "all processes": f"{used.together_bytes // MIB} MiB (at most {limit_mib})",
            "CPU": f"{used.cpu_seconds:.0f} s",
        }
        yield Row(what, count, wrong, figures, faults)


def _run(*words: object) -> None:
    used = run_measured(*words)
    if used.code:
        raise RuntimeError(f"{words[:2]} failed: {used.err}")


def _peaks(used: Usage) -> str:
    largest, together = used.largest_bytes // MIB, used.together_bytes // MIB
    return f"{largest} MiB in the largest process, {together} MiB in all processes"
