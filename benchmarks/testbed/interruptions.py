"""Runs of the testbed that are interrupted at random moments, and what they leave behind.

    python -m benchmarks.testbed.interruptions [--passes | --latencies] [--times 20] [--seed 0]

SIGINT, SIGTERM and SIGHUP are sent in turn, at moments between the first namespace and a running
job (with --passes: a running pass; with --latencies: single tuples). Finally a run is killed with
SIGKILL, and the next run must find and remove its leftovers.
"""

import argparse
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

from benchmarks.testbed import leftovers
from benchmarks.testbed.facilities import TestbedError, check
from benchmarks.testbed.ownership import PREFIX, is_alive
from benchmarks.testbed.programs import ip

ROOT = Path(__file__).resolve().parents[2]
JOB, PASS = "benchmarks.testbed.one_job", "benchmarks.testbed.passes.one_pass"
TUPLES = "benchmarks.testbed.latency.one_run"
WORKERS = tuple(b"benchmarks.testbed.%sworker" % part for part in (b"", b"passes.", b"latency."))
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
TIMEOUT_S = 30.0  # for a run to end after the signal
LATEST_S = 3.0  # latest moment of a signal, after the run is ready to create devices


def main() -> int:
    """Interrupt runs and print what they left; return 0 if they left nothing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=20, help="number of runs; default: 20")
    parser.add_argument("--seed", type=int, default=0, help="seed of the moments; default: 0")
    other = parser.add_mutually_exclusive_group()
    for option, module in (("--passes", PASS), ("--latencies", TUPLES)):
        shown = f"interrupt {option[2:]}, not streams"
        other.add_argument(option, dest="program", action="store_const", const=module, help=shown)
    parser.set_defaults(program=JOB)
    arguments = parser.parse_args()
    try:
        check()
    except TestbedError as error:
        print(f"testbed: {error}", file=sys.stderr)
        return error.exit_code
    rng = np.random.default_rng(arguments.seed)
    links = host_links()
    left = 0
    for i in range(arguments.times):
        after = float(rng.uniform(0.0, LATEST_S))
        left += len(interrupt(SIGNALS[i % len(SIGNALS)], after, links, arguments.program))
    killed = interrupt(signal.SIGKILL, LATEST_S, links, arguments.program)
    swept = interrupt(signal.SIGTERM, LATEST_S, links, arguments.program)
    print(f"interrupted {arguments.times} times: {left} leftovers")
    print(f"killed with SIGKILL: {len(killed)} leftovers; after the next run: {len(swept)}")
    return 0 if left == 0 and not swept else 1


def interrupt(
    number: signal.Signals, after_s: float, links: set[str], program: str = JOB
) -> list[str]:
    """Start a run, send it a signal after some seconds; print and return what it left.

    Parameters
    ----------
    links
        Links of the host before the run.
    program
        Module that prints a line before it creates the first device, and runs jobs until it ends.
    """
    command = (sys.executable, "-m", program)
    run = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert run.stdout is not None
    run.stdout.readline()
    time.sleep(after_s)
    before = len(remains(run.pid, links))
    run.send_signal(number)
    code = run.wait(TIMEOUT_S)
    run.stdout.close()
    left = remains(run.pid, links)
    print(
        f"{number.name:8} after {after_s:.2f} s: {before:3} before, exit {code:4}, "
        f"{left or 'none'} left"
    )
    return left


def remains(pid: int, links: set[str]) -> list[str]:
    """Return the namespaces, groups and processes of a run, and new links of the host.

    Those of other runs that are still alive are left out.
    """
    existing = leftovers.everything()
    others = {
        name for name in existing if is_alive(name) and not name.startswith(f"{PREFIX}{pid}-")
    }
    remaining = [
        name for prefix, names in existing.items() if prefix not in others for name in names
    ]
    parents = {prefix.split("-")[1] for prefix in others}
    remaining += [f"process {worker}" for worker, parent in workers() if parent not in parents]
    return sorted([*remaining, *(host_links() - links)])


def workers() -> Iterator[tuple[str, str]]:
    """Yield the process ids of every worker and of its parent."""
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (path / "cmdline").read_bytes().split(b"\0")
            if any(worker in words for worker in WORKERS):
                fields = (path / "stat").read_text().rpartition(")")[2].split()
                if fields[0] != "Z":
                    yield path.name, fields[1]


def host_links() -> set[str]:
    """Return the names of the links of the host's own network."""
    names = (line.split()[1] for line in ip(["link show"]).splitlines() if line[0] != " ")
    return {name.rstrip(":") for name in names}


if __name__ == "__main__":
    sys.exit(main())
