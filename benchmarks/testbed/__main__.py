"""The simulator against a small real cluster on this machine. Needs root on Linux.

python -m benchmarks.testbed short      tables T2 and T3, under four minutes
python -m benchmarks.testbed tables     tables T2, T3 and T4, twice
python -m benchmarks.testbed campaign   random graphs; resumes where it was interrupted
python -m benchmarks.testbed report     results of the campaign
python -m benchmarks.testbed run GRAPH PLACEMENT
"""

import argparse
import sys
from pathlib import Path

from benchmarks.exit_codes import exit_code
from benchmarks.testbed import campaign, single, summary, tables
from benchmarks.testbed.commands import NAME, add_folder, parser_of
from benchmarks.testbed.emulator import swept


def main() -> int:
    """Run the part that the command line names; return the exit code."""
    arguments = parsed()
    return exit_code(lambda: run(arguments), name=NAME)


def run(arguments: argparse.Namespace) -> int:
    """Run one part of the testbed; return the exit code."""
    if arguments.part == "report":
        return summary.run(arguments)
    with swept():
        return int(PARTS[arguments.part](arguments))


PARTS = {
    "short": tables.run,
    "tables": tables.run,
    "campaign": campaign.run,
    "run": single.run,
}


def parsed() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = parser_of("benchmarks.testbed", __doc__)
    parts = parser.add_subparsers(dest="part", required=True)
    short = parts.add_parser("short", help="the tables T2 and T3, once")
    short.set_defaults(only=tables.SHORT, times=1)
    ranks = parts.add_parser("tables", help="the tables of ranks")
    ranks.add_argument("--only", nargs="+", default=("T2", "T3", "T4"), help="default: all")
    ranks.add_argument("--times", type=int, default=2, help="repetitions; default: 2")
    many = parts.add_parser("campaign", help="random graphs with several placements")
    many.add_argument("--graphs", type=int, default=24, help="number of graphs; default: 24")
    shown = parts.add_parser("report", help="the summary of a campaign")
    for part in (many, shown):
        add_folder(part)
    one = parts.add_parser("run", help="one graph and placement")
    one.add_argument("graph", type=Path, help="graph file")
    one.add_argument("placement", type=Path, help="placement file")
    one.add_argument("--cluster", type=Path, help="cluster file; default: that of the placement")
    one.add_argument("--source-rate", type=float, help="tuples/s; default: that of the placement")
    one.add_argument("--warm-up", type=float, default=4.0, help="seconds; default: 4")
    one.add_argument("--seconds", type=float, default=5.0, help="measured seconds; default: 5")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
