"""What the commands of the testbed share: options, messages, and exit codes."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.testbed.facilities import lacking
from streamplace.errors import StreamplaceError

FOLDER = Path("testbed")
INTERRUPTED = 130


def exit_code(
    work: Callable[[], int], *, name: str = "testbed", others: tuple[type[Exception], ...] = ()
) -> int:
    """Do the work of a command; print a fault as one line, and return the exit code.

    Parameters
    ----------
    name
        Name of the command, with which a fault begins.
    others
        Errors that are no `StreamplaceError`; their exit code is 1.
    """
    try:
        return work()
    except StreamplaceError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return error.exit_code
    except others as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED


def is_skipped(arguments: argparse.Namespace) -> bool:
    """Return, and say, whether a command with ``--or-skip`` cannot run on this machine."""
    missing = lacking() if getattr(arguments, "or_skip", False) else []
    if missing:
        print(f"testbed: skipped, because this machine lacks: {', '.join(missing)}")
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
