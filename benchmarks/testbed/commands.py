"""What the commands of the testbed share: options, and what is said where it cannot run."""

import argparse
from pathlib import Path

from benchmarks.testbed.facilities import lacking

NAME = "testbed"
"""The name with which messages begin."""
FOLDER = Path("testbed")


def is_skipped(arguments: argparse.Namespace) -> bool:
    """Return, and say, whether a command with ``--or-skip`` cannot run on this machine."""
    missing = lacking() if getattr(arguments, "or_skip", False) else []
    if missing:
        print(f"{NAME}: skipped, because this machine lacks: {', '.join(missing)}")
    return bool(missing)


def parser_of(module: str, description: str | None) -> argparse.ArgumentParser:
    """Return the parser of a module's command, whose description keeps its lines."""
    return argparse.ArgumentParser(
        prog=f"python -m {module}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def add_folder(parser: argparse.ArgumentParser) -> None:
    """Add the option for the folder of results."""
    parser.add_argument("-o", type=Path, default=FOLDER, dest="folder", help="folder of results")


def add_or_skip(parser: argparse.ArgumentParser) -> None:
    """Add the option that lets a command succeed where the testbed cannot run."""
    text = "succeed on machines that cannot run the testbed"
    parser.add_argument("--or-skip", action="store_true", help=text)


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
