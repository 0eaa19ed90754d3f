"""The command `explain`: the bottleneck of a placement."""

from typing import TYPE_CHECKING

import click

from streamplace.cli import options, param_types

if TYPE_CHECKING:
    from streamplace.integrations.flink.use import Observed
    from streamplace.problem.logical import LogicalGraph
    from streamplace.problem.losses import Losses
    from streamplace.problem.placement import Placement

WATCHING = ("job", "seconds", "timeout")


@click.command()
@click.argument("placement", type=param_types.FILE)
@click.option(
    "--top",
    type=param_types.Whole(1),
    default=5,
    show_default=True,
    metavar="N",
    help="Number of rows to print per table.",
)
@options.losses
@click.option(
    "--constraints",
    "constraints_file",
    callback=options.file_name,
    type=param_types.FILE,
    metavar="FILE",
    help="Constraints file (JSON), used instead of the placement's constraints.",
)
@click.option(
    "--constraint-costs",
    is_flag=True,
    help="List the constraints without which placements would carry more, by a short search "
    "without each.  [default: only if the source rate is not carried and this is quick]",
)
@click.option(
    "--against",
    "url",
    metavar="URL",
    help="Address of the REST API of a Flink cluster whose job runs as placed: print predicted "
    "beside measured utilisation, and which costs are off.",
)
@click.option("--job", metavar="ID", help="With --against: id of the job, if several run.")
@options.seconds("--seconds", 60, "With --against: seconds to watch the job.")
@options.seconds("--timeout", 10, "With --against: seconds to wait for each answer of the server.")
@options.common
@click.pass_context
def explain(
    ctx: click.Context,
    placement: str,
    top: int,
    without: str | None,
    slow: str | None,
    constraints_file: str | None,
    constraint_costs: bool,
    url: str | None,
    job: str | None,
    seconds: float,
    timeout: float,
    seed: int,
    as_json: bool,
) -> None:
    """Explain a placement's bottleneck, and list helpful moves.

    The output shows which operators or streams load the busiest device or link, and which single
    moves of operators would raise throughput. Operators that must stay together because of a
    constraint are moved together. A placement made under --model engine is explained with the
    bottleneck model. Constraints that the placement violates are listed, and those that cost
    throughput.

    With --against, a running Flink job is watched, and predictions at the source rate that it
    receives now are printed beside what is measured. Utilisations of operators are shares of one
    core.

    \b
    Examples:
    streamplace explain placement.json
    streamplace explain placement.json --json
    streamplace explain placement.json --against http://localhost:8081 --seconds 120
    """
    if url is None:
        for name in WATCHING:
            if ctx.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT:
                raise click.UsageError(f"--{name} requires --against")
    from dataclasses import replace  # noqa: PLC0415 - loaded when the command runs

    from streamplace.cli.numba_loading import load_numba  # noqa: PLC0415

    load_numba()
    from streamplace.cli.terminal import print_result  # noqa: PLC0415
    from streamplace.errors import BackendError, located  # noqa: PLC0415
    from streamplace.execution.progress import working  # noqa: PLC0415
    from streamplace.files import read_placement  # noqa: PLC0415
    from streamplace.files.reading import name_of  # noqa: PLC0415
    from streamplace.workflows import explain  # noqa: PLC0415

    with working("reading"):
        read = _changed(
            read_placement(placement),
            name_of(placement),
            options.the_losses(without, slow),
            constraints_file,
        )
    with working("trying moves"), located(name_of(placement)):
        found = explain.explain(read, constraint_costs=constraint_costs, seed=seed)
    observed = None
    if url is not None:
        from streamplace.integrations.profiling.rest import Server  # noqa: PLC0415 - not always needed
        from streamplace.workflows.against.compare import compare  # noqa: PLC0415

        with working("watching"), located(name_of(placement)):
            observed = _observed(read, url, job, seconds, timeout, seed)
            try:
                compared = compare(read, observed.use)
            except BackendError as error:
                if observed.interrupted:
                    raise KeyboardInterrupt from None
                raise BackendError(observed.fault or f"{Server(url).url}: {error}") from None
        for note in compared.notes:
            options.print_note(note)
        found = replace(found, against=compared)
    if as_json:
        options.print_json(found.to_dict())
    else:
        print_result(found, limit=top)
    if observed is not None and observed.interrupted:
        raise KeyboardInterrupt
    if observed is not None and observed.fault:
        raise BackendError(f"{observed.fault}; the comparison is of the time before that")


def _changed(
    read: "Placement", name: str, lost: "Losses", constraints_file: str | None
) -> "Placement":
    """Return a placement after losses and under other constraints."""
    from streamplace.errors import located  # noqa: PLC0415 - loaded when the command runs
    from streamplace.files import read_constraints  # noqa: PLC0415
    from streamplace.problem.placement import Placement  # noqa: PLC0415

    if constraints_file is not None:
        rules = read_constraints(constraints_file)
        with located(constraints_file):
            problem = read.problem.with_constraints(rules)
        read = Placement(problem, read.devices)
    if lost:
        with located(name):
            read = lost.placement(read)
    return read


def _observed(
    read: "Placement", url: str, job: str | None, seconds: float, timeout: float, seed: int
) -> "Observed":
    """Watch the job; refuse one that has none of the placement's operators before that."""
    from streamplace.errors import ProblemError  # noqa: PLC0415 - loaded when the command runs
    from streamplace.integrations.flink.use import observe, running_job  # noqa: PLC0415 - not always needed
    from streamplace.integrations.profiling.rest import Server  # noqa: PLC0415
    from streamplace.workflows.against.compare import check_operators  # noqa: PLC0415

    server = Server(url)

    def check(logical: "LogicalGraph") -> None:
        try:
            check_operators(read, logical.graph.names)
        except ProblemError as error:
            raise ProblemError(f"{error} ({server.url})") from None

    return observe(
        read,
        server,
        running_job(server, timeout) if job is None else job,
        seconds=seconds,
        timeout_s=timeout,
        seed=seed,
        check=check,
    )
