"""The files of the command `watch`: its journal, and its page, which overwrites nothing else."""

import os
import sys
from contextlib import suppress
from pathlib import Path

import click

JOURNAL, GRAPH = "journal.jsonl", "graph.json"  # in the folder of the journal
KEPT = {JOURNAL: "the journal", GRAPH: "the graph that is kept beside the journal"}


def check_page(page: str | None, journal: str | None) -> None:
    """Refuse a page on stdout, where decisions are printed, and one that is a file of the journal.

    Parameters
    ----------
    page, journal
        File of the page and folder of the journal; None: there is none.
    """
    if page is None:
        return
    from streamplace.files.bounded import STDIO  # noqa: PLC0415 - slow to load

    if page == STDIO or _is_stdout(page):
        raise click.UsageError(
            f"--page {page}: is stdout, where decisions are printed; name a file for the page"
        )
    if journal is None:
        return
    for name, what in KEPT.items():
        if _is_same(page, Path(journal, name)):
            raise click.UsageError(
                f"--page {page}: would overwrite {what}; name another file for the page"
            )


def _is_stdout(page: str) -> bool:
    """Return whether a file is that behind stdout, such as /dev/stdout."""
    with suppress(OSError, ValueError, AttributeError):  # stdout may be closed or None
        return os.path.samestat(os.stat(page), os.fstat(sys.stdout.fileno()))
    return False


def _is_same(page: str, kept: Path) -> bool:
    with suppress(OSError, ValueError):  # usually one of them does not exist yet
        return os.path.samefile(page, kept)
    with suppress(OSError, ValueError):
        return os.path.realpath(page) == os.path.realpath(kept)
    return False
