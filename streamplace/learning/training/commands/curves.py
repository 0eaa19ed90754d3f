"""The command `curves`: plots of training curves."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamplace.cli import options, param_types
from streamplace.cli.command import argument, command, option, print_json, print_note
from streamplace.cli.output_files import check_targets
from streamplace.display.formats import kind_of
from streamplace.files.training_logs import LOG, Log, read_log
from streamplace.pictures.curves import draw_curves


@dataclass(frozen=True)
class CurvesOptions(options.Common):
    """The options of `curves`."""

    runs: tuple[str, ...] = argument(nargs=-1, required=True, type=param_types.FILE, metavar="RUN…")
    output: str = option(
        "-o",
        type=param_types.FILE,
        default="curves.png",
        show_default=True,
        metavar="FILE",
        help="Plot to write: .png, .svg or .pdf.",
    )


@command(CurvesOptions)
def curves(chosen: CurvesOptions) -> None:
    """Plot the training curves of run folders.

    RUN is a folder that `streamplace train` writes; it can be plotted during training. The plot
    shows reward, loss and entropy over steps, read from log.jsonl, and, as dashed lines in the same
    unit, the best rewards known and those of METIS and search on held-out graphs. Several runs are
    drawn side by side.

    \b
    Examples:
    streamplace curves run
    streamplace curves run-1 run-2 -o curves.pdf
    """
    kind_of(chosen.output)
    check_targets({"-o": chosen.output}, [Path(run) / LOG for run in chosen.runs])
    logs = {run: read_log(run) for run in chosen.runs}
    draw_curves(chosen.output, logs)
    if chosen.as_json:
        print_json({"file": chosen.output, "runs": _last(logs)})
    else:
        print_note(f"wrote {chosen.output}")


def _last(logs: Mapping[str, Log]) -> list[dict[str, Any]]:
    """Return the number of logged steps and the latest values of each run."""
    return [
        {"run": run, "steps": len(log)} | {k: v for step in log for k, v in step.items()}
        for run, log in logs.items()
    ]
