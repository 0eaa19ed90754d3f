"""The modes of the command `watch`, and the options that each of them takes."""

from typing import Any

import click

ADVISE, APPLY = "advise", "apply"
RESTART, ADAPTIVE = "restart", "adaptive"
OF_RESTARTS = (
    *("jar", "entry_class", "arguments", "savepoint_dir", "without_uids", "labels"),
    *("allow_cancel", "max_age"),
)


def check_modes(chosen: dict[str, Any]) -> None:
    """Refuse options that do not fit together."""
    applies, way = chosen["mode"] == APPLY, chosen["restart_by"] or RESTART
    named = [name for name in OF_RESTARTS if chosen[name]]
    shown = [f"--{name.replace('_', '-')}" for name in named]
    shown = ["--arg" if each == "--arguments" else each for each in shown]
    if not applies and (named or chosen["restart_by"]):
        first = (*shown, "--restart-by")[0]
        raise click.UsageError(f"{first} needs --mode apply; without it, nothing is changed")
    if applies and way == ADAPTIVE and named:
        raise click.UsageError(
            f"cannot combine {shown[0]} with --restart-by adaptive, which takes no savepoint, "
            "starts no jar and has no labels"
        )
    if applies and way == RESTART and not chosen["jar"]:
        raise click.UsageError(
            "missing --jar: --mode apply starts it again from a savepoint; or use --restart-by "
            "adaptive"
        )
    if chosen["allow_cancel"] is (chosen["max_age"] is None):
        raise click.UsageError(
            "--allow-cancel and --max-age need each other: a job is cancelled only where its "
            "latest checkpoint is younger"
        )
    if applies and not chosen["journal_folder"]:
        raise click.UsageError(
            "missing --journal: --mode apply needs a folder for its journal, from which it goes on "
            "if it is killed"
        )
