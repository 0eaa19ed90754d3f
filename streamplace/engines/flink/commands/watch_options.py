"""Options of the command `watch`, and checks of what they may be combined with."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from streamplace.cli import options, param_types
from streamplace.cli.command import argument, made_of, option
from streamplace.cli.settings import option_name, options_of
from streamplace.control.settings import DURATION, ControllerSettings
from streamplace.engines.flink.applying.apply import check_jar_file
from streamplace.engines.flink.watching.handing_out import DOCUMENT
from streamplace.errors import UsageError
from streamplace.files.reading import STDIO

ADVISE, APPLY = "advise", "apply"
RESTART, ADAPTIVE = "restart", "adaptive"
JOURNAL, GRAPH = "journal.jsonl", "graph.json"  # in the folder of the journal
KEPT = {
    JOURNAL: "the journal",
    GRAPH: "the graph that is kept beside the journal",
    DOCUMENT: "the document for the Flink Kubernetes operator",
}
NAMES = {
    "target": "target-utilisation",
    "savepoint_s": "deadline",
    "start_s": "start-timeout",
    "answer_s": "timeout",
}
"""Options that other commands have too, under another name than the field."""
BAND_OPTIONS = "--low, --target-utilisation, --high"


def settings() -> Any:
    """Return an option for every setting of the controller, and --scale, as one field."""
    scale = option(
        "--scale",
        type=param_types.NUMBER,
        callback=param_types.above_0,
        default=1.0,
        show_default=True,
        metavar="F",
        help="Factor on all durations except those of Flink's own steps (--deadline, "
        "--start-timeout, --timeout), for trials: 0.0667 is 15 times as fast.",
    )
    return made_of({**options_of(ControllerSettings, names=NAMES), "scale": scale}, the_settings)


def the_settings(scale: float, **chosen: Any) -> ControllerSettings:
    """Return the settings that the options describe.

    Parameters
    ----------
    chosen
        Name of a field -> value, for every field.

    Raises
    ------
    click.UsageError
        If a value is outside its range, or settings contradict each other; the message names the
        options.
    """
    with _naming_option():
        settings = ControllerSettings(**chosen)
    with _naming_option(" times --scale"):
        return settings.scaled(scale)


@contextmanager
def _naming_option(more: str = "") -> Iterator[None]:
    """Raise the error of a setting as that of its option, whose name `more` follows."""
    try:
        yield
    except UsageError as error:
        setting = error.fault.option
        error.update(
            option=option_name(setting, NAMES) + more
            if hasattr(ControllerSettings, setting)
            else BAND_OPTIONS
        )
        raise click.UsageError(str(error)) from None


@dataclass(frozen=True)
class WatchOptions(options.Common):
    """The options of `watch flink`."""

    url: str = argument()
    job: str | None = options.flink_job()
    cluster: options.ClusterChoice = options.cluster("none; one of the two is required")
    graph_file: str | None = options.file(
        "--graph",
        "The job's graph, with its numbers of instances and their limits.  [default: measured "
        "during a first window, and kept beside the journal]",
    )
    mode: str = option(
        "--mode",
        type=param_types.Choice([ADVISE, APPLY]),
        default=ADVISE,
        show_default=True,
        help="Print plans and change nothing (advise), or carry them out (apply).",
    )
    restart_by: str | None = option(
        "--restart-by",
        type=param_types.Choice([RESTART, ADAPTIVE]),
        help="How changes are made: a restart from a savepoint, or the adaptive scheduler, which "
        "has no labels and needs no jar.  [default: adaptive if the job runs under it and --labels "
        "is not given]",
    )
    program: options.FlinkProgram = options.program(required=False)
    allow_cancel: bool = option(
        "--allow-cancel",
        is_flag=True,
        help="Cancel the job if its savepoint does not end in time, where its latest checkpoint is "
        "retained and younger than --max-age; otherwise it is left running.",
    )
    max_age: float | None = option(
        "--max-age",
        type=param_types.SECONDS,
        callback=param_types.in_range(DURATION),
        metavar="S",
        help="Largest age of the checkpoint from which a cancelled job goes on.",
    )
    labels: bool = option(
        "--labels",
        is_flag=True,
        help="Pin instances to devices by the labels of TaskManagers. Otherwise only numbers of "
        "instances are set, and Flink chooses the slots.",
    )
    journal_folder: str | None = option(
        "--journal",
        type=param_types.NAME,
        metavar="DIR",
        help="Folder of the journal, from which a controller that was killed goes on. Required by "
        "--mode apply.",
    )
    page_file: str | None = option(
        "--page",
        type=param_types.NAME,
        metavar="FILE",
        help="HTML page with the timeline, written anew after every window.",
    )
    windows: int | None = option(
        "--windows",
        type=param_types.Whole(1),
        metavar="N",
        help="End after N windows.  [default: when the job ends]",
    )
    settings: ControllerSettings = settings()


def check_modes(chosen: WatchOptions) -> None:
    """Refuse options that do not fit together."""
    applies, way = chosen.mode == APPLY, chosen.restart_by
    shown = _of_restarts(chosen)
    if not applies and (shown or chosen.restart_by):
        first = (*shown, "--restart-by")[0]
        raise click.UsageError(f"{first} needs --mode apply; without it, nothing is changed")
    if applies and way == ADAPTIVE and shown:
        raise click.UsageError(
            f"cannot combine {shown[0]} with --restart-by adaptive, which takes no savepoint, "
            "starts no jar and has no labels"
        )
    if applies and way != ADAPTIVE and (shown or way) and not chosen.program.jar:
        raise click.UsageError(
            f"missing --jar, which {(*shown, '--restart-by restart')[0]} needs: a restart starts "
            "the jar from a savepoint"
        )
    if chosen.allow_cancel is (chosen.max_age is None):
        raise click.UsageError(
            "--allow-cancel and --max-age need each other: a job is cancelled only where its "
            "latest checkpoint is younger"
        )
    if applies and not chosen.journal_folder:
        if chosen.program.jar:  # which is not looked at where a journal goes on
            check_jar_file(chosen.program.jar)
        raise click.UsageError(
            "missing --journal: --mode apply needs a folder for its journal, from which it goes on "
            "if it is killed"
        )


def _of_restarts(chosen: WatchOptions) -> list[str]:
    """Return the options in use that are about restarts from a savepoint."""
    program = chosen.program
    values = {
        "--jar": program.jar,
        "--entry-class": program.entry_class,
        "--arg": program.arguments,
        "--savepoint-dir": program.savepoint_dir,
        "--without-uids": program.without_uids,
        "--labels": chosen.labels,
        "--allow-cancel": chosen.allow_cancel,
        "--max-age": chosen.max_age,
    }
    return [name for name, value in values.items() if value]


def check_page(page: str | None, journal: str | None) -> None:
    """Refuse a page on stdout, where decisions are printed, and one that is a file of the journal.

    Parameters
    ----------
    page, journal
        File of the page and folder of the journal; None: there is none.
    """
    if page is None:
        return
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
