"""Makespans on the testbed: single passes, simulated and measured. Needs root on Linux.

python -m benchmarks.testbed.passes campaign     24 graphs x 8 placements, twice; resumes
python -m benchmarks.testbed.passes report       figures of the campaign
python -m benchmarks.testbed.passes run GRAPH PLACEMENT
"""

import argparse
import sys
from pathlib import Path

from benchmarks.testbed.emulator import swept
from benchmarks.testbed.facilities import lacking
from benchmarks.testbed.passes import campaign, single, summary
from streamplace.errors import StreamplaceError

FOLDER = Path("testbed")
INTERRUPTED = 130


def main() -> int:
    """Run one part; return the exit code."""
    arguments = parsed()
    if getattr(arguments, "or_skip", False) and (missing := lacking()):
        print(f"testbed: skipped, because this machine lacks: {', '.join(missing)}")
        return 0
    try:
        if arguments.part == "report":
            return summary.run(arguments.folder)
        with swept():
            if arguments.part == "run":
                single.run(
                    arguments.graph, arguments.placement, arguments.cluster, arguments.repeats
                )
            else:
                campaign.run(
                    arguments.folder,
                    arguments.graphs,
                    arguments.placements,
                    arguments.runs,
                    arguments.repeats,
                )
                return summary.run(arguments.folder)
    except StreamplaceError as error:
        print(f"testbed: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def parsed() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.testbed.passes",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parts = parser.add_subparsers(dest="part", required=True)
    many = parts.add_parser("campaign", help="graphs with several placements, and the report")
    many.add_argument("--graphs", type=positive, default=24, help="default: 24")
    many.add_argument("--placements", type=several, default=8, help="of a graph; default: 8")
    many.add_argument("--runs", type=positive, default=2, help="of the whole campaign; default: 2")
    many.add_argument(
        "--or-skip", action="store_true", help="succeed on machines that cannot run the testbed"
    )
    shown = parts.add_parser("report", help="figures of a campaign")
    for part in (many, shown):
        part.add_argument(
            "-o", type=Path, default=FOLDER, dest="folder", help="folder of the campaign"
        )
    one = parts.add_parser("run", help="one graph and placement")
    one.add_argument("graph", type=Path, help="graph file")
    one.add_argument("placement", type=Path, help="placement file with a makespan")
    one.add_argument("--cluster", type=Path, help="cluster file; default: that of the placement")
    for part in (many, one):
        part.add_argument("--repeats", type=positive, default=5, help="passes; default: 5")
    return parser.parse_args()


def positive(text: str) -> int:
    """Return a whole number of at least 1."""
    return _at_least(1, text)


def several(text: str) -> int:
    """Return a whole number of at least 2, so that placements have ranks."""
    return _at_least(2, text)


def _at_least(least: int, text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a whole number (got {text!r})") from None
    if number < least:
        raise argparse.ArgumentTypeError(f"must be at least {least} (got {number})")
    return number


if __name__ == "__main__":
    sys.exit(main())
