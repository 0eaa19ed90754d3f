"""Options that several commands share."""

import json
from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Any, TypeVar

import click

from streamplace.cli.param_types import FILE, OBJECTIVE, Choice
from streamplace.execution.backends import BACKENDS
from streamplace.execution.progress import is_quiet, quietly
from streamplace.problem.objective import MODELS

if TYPE_CHECKING:
    from streamplace.problem.cluster import Cluster
    from streamplace.problem.objective import Objective

LONGEST_WAIT_S = 10**8
Command = TypeVar("Command", bound=Callable[..., Any])


def file_name(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Refuse the empty name, which is a slip of a script rather than a wish for nothing."""
    if value == "":
        raise click.BadParameter("is empty, and names no file", ctx, param)
    return value


def rates(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> tuple[float, ...] | None:
    """Read R or R,R2,…"""
    if value is None:
        return None
    try:
        found = tuple(float(part) for part in value.split(","))
    except ValueError:
        raise click.BadParameter(f"{value!r} is not R or R,R2,…", ctx, param) from None
    if not all(0 < rate < inf for rate in found):
        raise click.BadParameter(f"{value!r}: rates must be finite and above 0", ctx, param)
    return found


def at_least_0(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """Refuse what is negative or no number."""
    if value is not None and not 0 <= value < inf:
        raise click.BadParameter(f"must be finite and at least 0 (got {value:g})", ctx, param)
    return value


def wait(ctx: click.Context, param: click.Parameter, value: float) -> float:
    """Refuse what is no time to wait: what is endless, or beyond what a clock can be set to."""
    if not 0 <= value <= LONGEST_WAIT_S:
        must = f"must be 0 to {LONGEST_WAIT_S:,} s"
        raise click.BadParameter(f"{must} (got {value:g})", ctx, param)
    return value


def share(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """Refuse what is no share of something, or nothing of it."""
    if value is not None and not 0 < value <= 1:
        raise click.BadParameter(f"must be above 0 and at most 1 (got {value:g})", ctx, param)
    return value


def _hush(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        ctx.call_on_close(quietly())


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
seed = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed."
)
quiet = click.option(
    "-q",
    "--quiet",
    is_flag=True,
    expose_value=False,
    callback=_hush,
    help="Say nothing on stderr but errors.",
)
model = click.option(
    "--model", type=Choice(MODELS), help="How throughput is computed  [default: bottleneck]"
)
source_rates = click.option(
    "--source-rate",
    "source_rates",
    callback=rates,
    metavar="R[,R2]",
    help="Tuples/s over all sources; of several the worst counts  [default: the graph's own]",
)
constraints = click.option(
    "--constraints",
    "constraints_file",
    callback=file_name,
    type=FILE,
    metavar="FILE",
    help="Constraints, in place of the graph's own.",
)
time_limit = click.option(
    "--time-limit",
    type=float,
    callback=at_least_0,
    metavar="S",
    help="Seconds that a search may take  [default: 1]",
)
target_utilisation = click.option(
    "--target-utilisation",
    type=float,
    callback=share,
    metavar="U",
    help="Share of every device and link to be used, the rest is headroom  [default: 1]",
)
objective = click.option(
    "--objective",
    type=OBJECTIVE,
    metavar="NAME",
    help="What to achieve, NAME[:OPTION=VALUE…]: throughput or your own  [default: throughput]",
)


fold = click.option(
    "--fold",
    is_flag=True,
    help="Keep a parallel operator one operator, with the memory of all its instances.",
)


def costs(says: str, metavar: str = "FILE") -> Callable[[Command], Command]:
    """Return the option --costs, a file of numbers that the user knows."""
    return click.option(
        "--costs",
        "costs_file",
        callback=file_name,
        type=FILE,
        metavar=metavar,
        help=says,
    )


def output(says: str = "[default: -]", metavar: str = "FILE") -> Callable[[Command], Command]:
    """Return the option -o of commands that write to stdout unless told otherwise."""
    return click.option(
        "-o",
        "output",
        callback=file_name,
        type=FILE,
        default="-",
        metavar=metavar,
        help=says,
    )


def common(command: Command) -> Command:
    """Add --json, --quiet and --seed, which every command takes."""
    return as_json(quiet(seed(command)))


def processes(command: Command) -> Command:
    """Add --jobs, --backend and --address."""
    jobs = click.option(
        "--jobs", type=click.IntRange(min=1), help="Processes  [default: all cores]"
    )
    backend = click.option(
        "--backend",
        type=Choice(BACKENDS),
        default="local",
        show_default=True,
        help="Where they are; the results are the same.",
    )
    address = click.option(
        "--address", metavar="HOST:PORT", help="Ray or Dask cluster  [default: one on this machine]"
    )
    return jobs(backend(address(command)))


def cluster(command: Command) -> Command:
    """Add --cluster and --devices."""
    by_file = click.option(
        "--cluster",
        "cluster_file",
        callback=file_name,
        type=FILE,
        metavar="FILE",
        help="Cluster file.",
    )
    by_text = click.option(
        "--devices", metavar="5x2500", help="Devices as COUNTxMIPS[xCORES],…  [default: 5x2500]"
    )
    return by_file(by_text(command))


def the_cluster(cluster_file: str | None, devices: str | None) -> "Cluster | None":
    """Return the cluster that the options describe; None if they say nothing."""
    if cluster_file is not None and devices is not None:
        raise click.UsageError("--cluster and --devices exclude each other")
    if devices is not None:
        from streamplace.problem.cluster import Cluster  # noqa: PLC0415 - see main

        return Cluster.parse(devices)
    if cluster_file is not None:
        from streamplace.files import read_cluster  # noqa: PLC0415

        return read_cluster(cluster_file)
    return None


def the_objective(text: str | None) -> "Objective | None":
    """Return the objective that the option names; None without the option."""
    if text is None:
        return None
    from streamplace.problem.objectives import make_objective  # noqa: PLC0415 - see main

    return make_objective(text)


def print_json(value: Any) -> None:
    """Print a JSON value on stdout."""
    click.echo(json.dumps(value, indent=1, ensure_ascii=False))


def tell(text: str) -> None:
    """Say a line on stderr, unless nothing is to be said there."""
    if not is_quiet():
        click.echo(text, err=True)
