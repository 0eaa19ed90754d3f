"""The command `curves`: plots of training curves."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streamplace.cli import checks, options, param_types, printing

if TYPE_CHECKING:
    from streamplace.files.training_logs import Log


@click.command()
@click.argument("runs", nargs=-1, required=True, type=param_types.FILE, metavar="RUN…")
@click.option(
    "-o",
    "output",
    callback=checks.file_name,
    type=param_types.FILE,
    default="curves.png",
    show_default=True,
    metavar="FILE",
    help="Plot to write: .png, .svg or .pdf.",
)
@options.common
def curves(runs: tuple[str, ...], output: str, seed: int, as_json: bool) -> None:
    """Plot the training curves of run folders.

    RUN is a folder that `streamplace train` writes; it can be plotted during training. The plot
    shows reward, gap to the best known placement, loss and entropy over steps, read from
    log.jsonl. Several runs are drawn side by side.

    \b
    Examples:
    streamplace curves run
    streamplace curves run-1 run-2 -o curves.pdf
    """
    from streamplace.cli.output_files import check_targets  # noqa: PLC0415 - loaded when the command runs
    from streamplace.files.training_logs import LOG, read_log  # noqa: PLC0415
    from streamplace.plots.formats import kind_of  # noqa: PLC0415

    kind_of(output)
    check_targets({"-o": output}, [Path(run) / LOG for run in runs])
    logs = {run: read_log(run) for run in runs}
    from streamplace.plots.training_curves import draw_curves  # noqa: PLC0415 - heavy

    draw_curves(output, logs)
    if as_json:
        printing.print_json({"file": output, "runs": _last(logs)})
    else:
        printing.print_note(f"wrote {output}")


def _last(logs: "Mapping[str, Log]") -> list[dict[str, Any]]:
    """Return the number of logged steps and the latest values of each run."""
    return [
        {"run": run, "steps": len(log)} | {k: v for step in log for k, v in step.items()}
        for run, log in logs.items()
    ]
