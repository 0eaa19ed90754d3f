"""Makespans on the testbed: single passes, simulated and measured. Needs root on Linux.

python -m benchmarks.testbed.passes campaign     24 graphs x 8 placements, twice; resumes
python -m benchmarks.testbed.passes report       figures of the campaign
python -m benchmarks.testbed.passes run GRAPH PLACEMENT
"""

import argparse
import sys
from pathlib import Path

from benchmarks.exit_codes import exit_code
from benchmarks.testbed.commands import (
    NAME,
    add_folder,
    add_or_skip,
    is_skipped,
    parser_of,
    positive,
    several,
)
from benchmarks.testbed.emulator import swept
from benchmarks.testbed.passes import campaign, single, summary


def main() -> int:
    """Run the part that the command line names; return the exit code."""
    arguments = parsed()
    return 0 if is_skipped(arguments) else exit_code(lambda: run(arguments), name=NAME)


def run(arguments: argparse.Namespace) -> int:
    """Run one part; return the exit code."""
    if arguments.part == "report":
        return summary.run(arguments.folder)
    with swept():
        if arguments.part == "run":
            single.run(arguments.graph, arguments.placement, arguments.cluster, arguments.repeats)
            return 0
        campaign.run(
            arguments.folder,
            arguments.graphs,
            arguments.placements,
            arguments.runs,
            arguments.repeats,
        )
        return summary.run(arguments.folder)


def parsed() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = parser_of("benchmarks.testbed.passes", __doc__)
    parts = parser.add_subparsers(dest="part", required=True)
    many = parts.add_parser("campaign", help="graphs with several placements, and the report")
    many.add_argument("--graphs", type=positive, default=24, help="default: 24")
    many.add_argument("--placements", type=several, default=8, help="of a graph; default: 8")
    many.add_argument("--runs", type=positive, default=2, help="of the whole campaign; default: 2")
    add_or_skip(many)
    shown = parts.add_parser("report", help="figures of a campaign")
    for part in (many, shown):
        add_folder(part)
    one = parts.add_parser("run", help="one graph and placement")
    one.add_argument("graph", type=Path, help="graph file")
    one.add_argument("placement", type=Path, help="placement file with a makespan")
    one.add_argument("--cluster", type=Path, help="cluster file; default: that of the placement")
    for part in (many, one):
        part.add_argument("--repeats", type=positive, default=5, help="passes; default: 5")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
