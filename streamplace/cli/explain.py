"""The command `explain`: the bottleneck of a placement, or what its makespan consists of."""

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from streamplace.cli import checks, from_options, makespan_options, options, param_types, printing
from streamplace.problem.makespan import PublishedName

if TYPE_CHECKING:
    from streamplace.integrations.flink.use import Observed
    from streamplace.problem.logical import LogicalGraph
    from streamplace.problem.losses import Losses
    from streamplace.problem.placement import Placement
    from streamplace.workflows.against.comparison import Against

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
@options.objective("the placement's")
@makespan_options.options
@makespan_options.semantics
@click.option(
    "--constraints",
    "constraints_file",
    callback=checks.file_name,
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
@options.identifier("--job", "With --against: id of the job, if several run.")
@options.seconds("--seconds", 60, "With --against: seconds to watch the job.")
@options.seconds("--timeout", 10, "With --against: seconds to wait for each answer of the server.")
@options.common
@click.pass_context
def explain(
    ctx: click.Context,
    /,
    placement: str,
    top: int,
    without: str | None,
    slow: str | None,
    objective: str | None,
    semantics: PublishedName | None,
    constraints_file: str | None,
    constraint_costs: bool,
    url: str | None,
    job: str | None,
    seconds: float,
    timeout: float,
    seed: int,
    as_json: bool,
    **makespan_values: Any,
) -> None:
    """Explain a placement, and list moves that would improve it.

    The output shows which operators or streams load the busiest device or link, and which single
    moves of operators would raise throughput. Operators that must stay together because of a
    constraint are moved together. A placement made under --model engine is explained with the
    bottleneck model. Constraints that the placement violates are listed, and those that cost
    throughput.

    Under the makespan objective, the output shows what the makespan consists of, the critical path
    with what each operator and message on it waited for, and which single moves would shorten it.

    With --against, a running Flink job is watched, and predictions at the source rate that it
    receives now are printed beside what is measured. Utilisations of operators are shares of one
    core.

    \b
    Examples:
    streamplace explain placement.json
    streamplace explain placement.json --json
    streamplace explain placement.json --objective makespan --order b-level
    streamplace explain placement.json --against http://localhost:8081 --seconds 120
    """
    if url is None:
        _refuse_watching(ctx)
    from dataclasses import replace  # noqa: PLC0415 - loaded when the command runs

    from streamplace.cli.current import whole_placement  # noqa: PLC0415
    from streamplace.cli.terminal import print_result  # noqa: PLC0415
    from streamplace.errors import BackendError, located  # noqa: PLC0415
    from streamplace.execution.progress import working  # noqa: PLC0415
    from streamplace.files.assignments import read_placement_json  # noqa: PLC0415
    from streamplace.files.placements import proven_bound_s  # noqa: PLC0415
    from streamplace.files.reading import name_of  # noqa: PLC0415
    from streamplace.workflows import explain  # noqa: PLC0415
    from streamplace.workflows.explanation import Explanation  # noqa: PLC0415

    kind = from_options.the_objective(objective)
    with working("reading"):
        settings = partial(
            makespan_options.with_settings,
            kind,
            makespan_values,
            seed,
            is_bare=objective == makespan_options.BARE,
        )
        document = read_placement_json(placement)
        read = _changed(
            whole_placement(document, name_of(placement), settings),
            name_of(placement),
            from_options.the_losses(without, slow),
            constraints_file,
        )
        if semantics is not None:
            read = makespan_options.under_semantics(read, semantics)
    for option, value in (("against", url), ("constraint-costs", constraint_costs)):
        if value:
            makespan_options.refuse(read.problem.objective, option)
    with working("trying moves"), located(name_of(placement)):
        found = explain.explain(read, constraint_costs=constraint_costs, seed=seed)
        if not isinstance(found, Explanation):
            proven = proven_bound_s(document, read.problem)
            found = replace(found, score=found.score.with_proven(proven))
    observed = None
    if url is not None and isinstance(found, Explanation):
        with working("watching"), located(name_of(placement)):
            observed = _observed(read, url, job, seconds, timeout, seed)
            compared = _compared(read, observed, url)
        for note in compared.notes:
            printing.print_note(note)
        found = replace(found, against=compared)
    if as_json:
        printing.print_json(found.to_dict())
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


def _refuse_watching(ctx: click.Context) -> None:
    """Refuse options of --against without it."""
    for name in WATCHING:
        if ctx.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT:
            raise click.UsageError(f"--{name} requires --against")


def _compared(read: "Placement", observed: "Observed", url: str) -> "Against":
    """Compare predictions with what was measured."""
    from streamplace.errors import BackendError  # noqa: PLC0415 - loaded when the command runs
    from streamplace.integrations.profiling.rest import Server  # noqa: PLC0415 - not always needed
    from streamplace.workflows.against.compare import compare  # noqa: PLC0415

    try:
        return compare(read, observed.use)
    except BackendError as error:
        if observed.interrupted:
            raise KeyboardInterrupt from None
        raise BackendError(observed.fault or f"{Server(url).url}: {error}") from None


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
