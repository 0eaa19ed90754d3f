"""Latencies of single tuples on the testbed, and the answers about limits. Needs root on Linux.

python -m benchmarks.testbed.latency campaign    24 graphs with answers and measurements; resumes
python -m benchmarks.testbed.latency answers     only what needs no measurement after calibration
python -m benchmarks.testbed.latency report      figures of the campaign
"""

import argparse
import sys

from benchmarks.exit_codes import exit_code
from benchmarks.testbed.commands import (
    NAME,
    add_folder,
    add_or_skip,
    is_skipped,
    parser_of,
    positive,
)
from benchmarks.testbed.emulator import swept
from benchmarks.testbed.latency import campaign, summary


def main() -> int:
    """Run the part that the command line names; return the exit code."""
    arguments = parsed()
    return 0 if is_skipped(arguments) else exit_code(lambda: run(arguments), name=NAME)


def run(arguments: argparse.Namespace) -> int:
    """Run one part; return the exit code."""
    if arguments.part != "report":
        with swept():
            is_whole = arguments.part == "campaign"
            campaign.run(arguments.folder, arguments.graphs, measure=is_whole)
    return 0 if arguments.part == "answers" else summary.run(arguments.folder)


def parsed() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = parser_of("benchmarks.testbed.latency", __doc__)
    parts = parser.add_subparsers(dest="part", required=True)
    many = parts.add_parser("campaign", help="answers and measurements, and the report")
    add_or_skip(many)
    only = parts.add_parser("answers", help="the answers that the folder lacks")
    shown = parts.add_parser("report", help="figures of a campaign")
    for part in (many, only):
        part.add_argument("--graphs", type=positive, default=24, help="default: 24")
    for part in (many, only, shown):
        add_folder(part)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
