"""Kubernetes manifests by the rules of kube-scheduler: where each pod runs, or why it does not.

    python -m benchmarks.kubernetes --scheduler PROGRAM

PROGRAM is kube-scheduler. It runs with its own defaults beside a small API server on loopback
(`api`), which has the nodes and pods; without it, nothing runs. Each random placement is exported,
and its Deployments become pods on nodes that stand for the devices, beside an empty large one.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.kubernetes.api import Api
from benchmarks.kubernetes.checks import Outcome, full, mapped, relabelled, unselected
from benchmarks.kubernetes.placements import drawn
from benchmarks.kubernetes.running import kube_scheduler
from benchmarks.kubernetes.trials import Trial

Check = Callable[[Trial], Outcome]
CHECKS: dict[str, tuple[Check, bool]] = {
    "mapped": (mapped, False),
    "a node is full": (full, False),
    "a label moves": (relabelled, True),
    "no node selector": (unselected, False),
    "a label moves, no anti-affinity": (lambda trial: relabelled(trial, without="affinity"), True),
}
"""Check -> what does it, and whether nodes have more than any device."""


def main() -> int:
    """Run all checks on all placements; return 1 if the scheduler decided otherwise."""
    options = _options()
    if options.scheduler is None:
        print("kubernetes: skipped, as --scheduler names no kube-scheduler", file=sys.stderr)
        return 0
    found: dict[str, list[Outcome]] = {name: [] for name in CHECKS}
    with tempfile.TemporaryDirectory() as folder, Api() as api:
        with kube_scheduler(options.scheduler, api.url, Path(folder)):
            for number in range(options.placements):
                placement = drawn(number, options.seed)
                for index, (name, (check, is_large)) in enumerate(CHECKS.items()):
                    trial = Trial(api, placement, f"t{number}-{index}", is_large=is_large)
                    outcome = check(trial)
                    trial.end()
                    found[name].append(outcome)
                    for fault in outcome.faults:
                        print(f"placement {number}, {name}: {fault}")
        print(api.client.split()[0])
    print(f"{'check':34}placements  pods  on their node  pending  elsewhere  faults")
    for name, rows in found.items():
        tried, pods = sum(row.pods > 0 for row in rows), sum(row.pods for row in rows)
        pending, elsewhere = sum(row.pending for row in rows), sum(row.elsewhere for row in rows)
        own, faults = pods - pending - elsewhere, sum(len(row.faults) for row in rows)
        print(f"{name:34}{tried:10}{pods:6}{own:15}{pending:9}{elsewhere:11}{faults:8}")
    return int(any(row.faults for rows in found.values() for row in rows))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.kubernetes", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--scheduler", metavar="PROGRAM", help="kube-scheduler")
    parser.add_argument("--placements", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
