"""Latencies of single tuples on the testbed, and the answers about limits. Needs root on Linux.

python -m benchmarks.testbed.latency campaign    24 graphs with answers and measurements; resumes
python -m benchmarks.testbed.latency answers     only what needs no measurement after calibration
python -m benchmarks.testbed.latency report      figures of the campaign
"""

import argparse
import sys
from pathlib import Path

from benchmarks.testbed.emulator import swept
from benchmarks.testbed.facilities import lacking
from benchmarks.testbed.latency import campaign, summary
from benchmarks.testbed.passes.__main__ import INTERRUPTED, positive
from streamplace.errors import StreamplaceError

FOLDER = Path("testbed")


def main() -> int:
    """Run one part; return the exit code."""
    arguments = parsed()
    if getattr(arguments, "or_skip", False) and (missing := lacking()):
        print(f"testbed: skipped, because this machine lacks: {', '.join(missing)}")
        return 0
    try:
        if arguments.part != "report":
            with swept():
                is_whole = arguments.part == "campaign"
                campaign.run(arguments.folder, arguments.graphs, measure=is_whole)
        return 0 if arguments.part == "answers" else summary.run(arguments.folder)
    except StreamplaceError as error:
        print(f"testbed: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED


def parsed() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.testbed.latency",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parts = parser.add_subparsers(dest="part", required=True)
    many = parts.add_parser("campaign", help="answers and measurements, and the report")
    many.add_argument(
        "--or-skip", action="store_true", help="succeed on machines that cannot run the testbed"
    )
    only = parts.add_parser("answers", help="the answers that the folder lacks")
    shown = parts.add_parser("report", help="figures of a campaign")
    for part in (many, only):
        part.add_argument("--graphs", type=positive, default=24, help="default: 24")
    for part in (many, only, shown):
        part.add_argument(
            "-o", type=Path, default=FOLDER, dest="folder", help="folder of the campaign"
        )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
