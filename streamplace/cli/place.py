"""The command that places the operators of a graph."""

from typing import TYPE_CHECKING, Any

import click

from streamplace.cli import options, param_types

if TYPE_CHECKING:
    from streamplace.problem.cluster import Cluster
    from streamplace.problem.objective import Objective
    from streamplace.problem.problem import Problem


@click.command()
@click.argument("graph", type=param_types.GRAPH)
@options.cluster
@options.constraints
@options.source_rates
@options.model
@options.target_utilisation
@options.objective
@click.option(
    "--placer",
    type=param_types.PLACER,
    default="auto",
    show_default=True,
    metavar="NAME",
    help="NAME[:OPTION=VALUE…]",
)
@options.time_limit
@click.option(
    "--start",
    callback=options.file_name,
    type=param_types.FILE,
    metavar="FILE",
    help="What runs now; to set out from.",
)
@click.option(
    "--max-moves",
    type=click.IntRange(0),
    metavar="M",
    help="Operators that may move from --start, beyond those that have to.",
)
@click.option(
    "--move-cost",
    type=float,
    callback=options.at_least_0,
    metavar="C",
    help="Relative throughput that a second of moving memory is worth.",
)
@click.option(
    "--whole-operators", is_flag=True, help="Keep the instances of an operator on one device."
)
@click.option(
    "-o",
    "output",
    callback=options.file_name,
    type=param_types.FILE,
    metavar="FILE",
    help="File to write, or -.",
)
@options.common
def place(
    graph: str,
    cluster_file: str | None,
    devices: str | None,
    constraints_file: str | None,
    source_rates: tuple[float, ...] | None,
    model: str | None,
    target_utilisation: float | None,
    objective: str | None,
    placer: str,
    time_limit: float | None,
    start: str | None,
    max_moves: int | None,
    move_cost: float | None,
    whole_operators: bool,
    output: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """Place the operators of GRAPH on devices.

    \b
    auto                       asks those below, then searches for a second
    search                     anneals on the score
    multilevel                 for large graphs
    policy                     a trained network; policy:samples=16 is the best of 16
    metis, metis-recursive, fuser
    metis-oracle, metis-recursive-oracle, fuser-oracle
                               try every number of parts
    exact                      proves that none is better, or how far off it may be
    greedy, single, round-robin, random
    module:Class               your own: file module.py here, or an installed one

    --objective is throughput or, as for --placer, your own: module:Class, or a name that an
    installed package registers.

    With several source rates one placement is sought for all: the score is that at the worst.

    With --start the placement of FILE is improved; operators go by name, so its cluster, rate and
    graph may be others. What its devices no longer allow has to move; --max-moves or --move-cost
    limit the rest.

    \b
    streamplace place graph.json -o placement.json
    streamplace place graph.json --source-rate 5e3,2e4 --target-utilisation 0.8
    streamplace place dataset:real/riotbench-etl.json --placer metis-oracle --devices 3x2500
    streamplace place graph.json --start placement.json --cluster fewer.json --max-moves 3
    """
    limited = max_moves is not None or move_cost is not None
    if start is None and limited:
        raise click.UsageError("--max-moves and --move-cost are for --start")
    if limited and placer != "auto":
        raise click.UsageError("with --max-moves or --move-cost there is one placer")
    if max_moves is not None and move_cost is not None:
        raise click.UsageError("--max-moves or --move-cost, not both")
    if output == "-" and as_json:
        raise click.UsageError("-o - and --json both want stdout")
    from streamplace.cli.output_files import check_targets, weights_of  # noqa: PLC0415
    from streamplace.cli.terminal import print_result  # noqa: PLC0415
    from streamplace.errors import located  # noqa: PLC0415
    from streamplace.execution.progress import working  # noqa: PLC0415
    from streamplace.files import read_placement  # noqa: PLC0415
    from streamplace.files.reading import name_of  # noqa: PLC0415
    from streamplace.placers import registry  # noqa: PLC0415
    from streamplace.workflows.migrate import migrate  # noqa: PLC0415
    from streamplace.workflows.place import solve  # noqa: PLC0415

    inputs = (graph, cluster_file, constraints_file, *weights_of(placer))
    check_targets({"-o": output}, inputs)  # --start may be replaced by what comes of it
    cluster = options.the_cluster(cluster_file, devices)
    kind = options.the_objective(objective)
    with working("reading"):
        old = None if start is None else read_placement(start, objective=kind)
        if old is not None and kind is None:
            kind = _inherited(old.problem.objective, str(start))
        problem = _problem(
            graph,
            cluster,
            constraints_file,
            whole_operators,
            kind=kind,
            source_rate=source_rates,
            model=model,
            target_utilisation=target_utilisation,
        )
    if time_limit is not None and not limited:
        placer = registry.with_limit(placer, time_limit)
    _warn_if_slow(placer, len(problem.graph.names))
    found = None
    with working("placing"), located(constraints_file or name_of(graph)):
        if old is None:
            result = solve(problem, placer, seed)
        else:
            found = migrate(
                problem,
                old,
                max_moves=max_moves,
                move_cost=move_cost,
                placer=placer,
                seconds=time_limit,
                seed=seed,
            )
            result = found.result
    if output is not None:
        result.save(output)
    if as_json:
        options.print_json((found or result).to_dict())
    else:
        print_result(result, to_stderr=output == "-")
        if found is not None:
            print_result(found, to_stderr=output == "-")


def _warn_if_slow(placer: str, operators: int) -> None:
    """Say on stderr if a placer may take minutes on a graph of so many operators."""
    from streamplace.placers.registry import warning_for  # noqa: PLC0415 - see place

    if warning := warning_for(placer, operators):
        options.tell(warning)


def _inherited(objective: "Objective", start: str) -> "Objective | None":
    """Return the objective of a user that a placement was made for, and say so on stderr."""
    from dataclasses import replace  # noqa: PLC0415 - see place

    from streamplace.problem.objective import Throughput  # noqa: PLC0415
    from streamplace.problem.objectives import text_of  # noqa: PLC0415

    if type(objective) is Throughput:
        return None
    options.tell(f"objective {text_of(objective)} is that of {start}")
    usual = Throughput()  # rates, model and headroom are not inherited
    return replace(
        objective,
        source_rates=usual.source_rates,
        model=usual.model,
        target_utilisation=usual.target_utilisation,
        engine=usual.engine,
    )


def _problem(
    graph: str,
    cluster: "Cluster | None",
    constraints_file: str | None,
    whole: bool = False,
    *,
    kind: "Objective | None",
    **changes: Any,
) -> "Problem":
    """Read the problem; an error names the file that is at fault."""
    from streamplace.errors import located  # noqa: PLC0415
    from streamplace.files import read_constraints, read_graph  # noqa: PLC0415
    from streamplace.files.reading import name_of  # noqa: PLC0415
    from streamplace.problem.constraints import Constraints  # noqa: PLC0415 - see place
    from streamplace.problem.objective import Throughput  # noqa: PLC0415
    from streamplace.problem.problem import Problem  # noqa: PLC0415
    from streamplace.scoring.flow import flow  # noqa: PLC0415

    read = read_graph(graph)
    constraints = None if constraints_file is None else read_constraints(constraints_file)
    without = None if constraints is None else Constraints()
    objective = kind or Throughput()
    with located(name_of(graph)):
        problem = Problem(
            read, cluster, constraints=without, objective=objective.with_changes(**changes)
        )
        flow(problem)
    if constraints is None and not whole:
        return problem
    rules = read.constraints if constraints is None else constraints
    if whole:
        from streamplace.integrations.whole_operators import colocate_instances  # noqa: PLC0415 - seldom

        rules = colocate_instances(read, rules)
    with located(constraints_file or name_of(graph)):
        return problem.with_constraints(rules)
