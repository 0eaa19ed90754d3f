"""The third stage of DOPPLER on the testbed. Needs root on Linux.

python -m benchmarks.testbed.passes.third_stage --workloads 4 --passes 300

Every workload is trained in simulation (stages one and two) and then on measured makespans (stage
three). The best placements of stages two and three, of a climb on as many measured passes, and of
a search in simulation are then measured in turn. A workload that the folder has is not measured
again; a folder with results of another seed or budget is refused.
"""

import argparse
import sys
from dataclasses import asdict
from pathlib import Path

from benchmarks.exit_codes import exit_code
from benchmarks.result_lines import add, read
from benchmarks.testbed.commands import (
    NAME,
    add_folder,
    add_or_skip,
    is_skipped,
    parser_of,
    positive,
)
from benchmarks.testbed.facilities import TestbedError, check
from benchmarks.testbed.passes.third_stage.budget import Budget
from benchmarks.testbed.passes.third_stage.table import lines
from benchmarks.testbed.passes.third_stage.workloads import FAMILIES, workloads
from streamplace.files import write_json
from streamplace.files.writing import make_folder

RESULTS, TABLE = "third_stage.jsonl", "third_stage.json"


def main() -> int:
    """Measure the workloads and print the table; return the exit code."""
    arguments = parsed()
    budget = Budget(arguments.passes, arguments.repeats, arguments.epochs)
    if is_skipped(arguments):
        return 0
    return exit_code(
        lambda: run(arguments.folder, arguments.workloads, budget, arguments.seed), name=NAME
    )


def run(folder: Path, count: int, budget: Budget, seed: int) -> int:
    """Measure the workloads that the folder lacks, and write and print the table.

    Raises
    ------
    TestbedError
        If the folder has results of another seed or budget, or the testbed fails.
    """
    check()
    from benchmarks.testbed.passes.third_stage.comparison import (  # noqa: PLC0415 - torch is heavy
        compared,
    )

    results = make_folder(folder) / RESULTS
    before = read(results)
    settings = {"seed": seed, "budget": asdict(budget)}
    if any({key: one[key] for key in settings} != settings for one in before):
        wrong = "has results of another seed or budget; choose another folder with -o"
        raise TestbedError(f"{results}: {wrong}")
    done = {one["workload"] for one in before}
    with results.open("a") as file:
        for problem in workloads(count, seed):
            if problem.graph.name not in done:
                add(file, compared(problem, budget, seed))
    found = read(results)
    table = list(lines(found))
    print("\n".join(table))
    write_json(folder / TABLE, {"table": table, "results": found})
    return 0


def parsed() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = parser_of("benchmarks.testbed.passes.third_stage", __doc__)
    most = len(FAMILIES)
    parser.add_argument(
        "--workloads", type=int, choices=range(1, most + 1), default=most, help=f"default: {most}"
    )
    parser.add_argument("--passes", type=positive, default=300, help="per method; default: 300")
    parser.add_argument("--repeats", type=positive, default=3, help="of a placement; default: 3")
    parser.add_argument(
        "--epochs", type=positive, default=100, help="of stages one and two each; default: 100"
    )
    parser.add_argument("--seed", type=int, default=0, help="default: 0")
    add_folder(parser)
    add_or_skip(parser)
    arguments = parser.parse_args()
    if arguments.passes < arguments.repeats:
        parser.error("--passes must be at least --repeats")
    return arguments


if __name__ == "__main__":
    sys.exit(main())
