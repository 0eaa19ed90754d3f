"""`streamplace simulate`, `place` and `diff`: one placement at a time."""

from typing import TYPE_CHECKING, Any

import click

from streamplace.cli import choices, engine, options

if TYPE_CHECKING:
    from streamplace.cluster import Cluster
    from streamplace.problem import Problem


@click.command()
@click.argument("graph", type=choices.GRAPH)
@click.argument("placement", type=choices.FILE)
@options.cluster
@options.source_rates
@options.model
@options.target_utilisation
@engine.options
@options.common
def simulate(
    graph: str,
    placement: str,
    cluster_file: str | None,
    devices: str | None,
    source_rates: tuple[float, ...] | None,
    model: str | None,
    target_utilisation: float | None,
    seed: int,
    as_json: bool,
    **of_engine: Any,
) -> None:
    """Score PLACEMENT of GRAPH.

    What is not told comes from the placement file; for CEPSim files from the graph, the default
    cluster and bottleneck. Of several source rates the score is that at the worst.

    \b
    streamplace simulate graph.json placement.json --source-rate 2e4 --model path-average
    streamplace simulate graph.json placement.json --model engine --plot run.png
    """
    given = {name: value for name, value in of_engine.items() if value is not None}
    from streamplace import score  # noqa: PLC0415
    from streamplace.cli import show  # noqa: PLC0415 - a command loads what it needs
    from streamplace.errors import (  # noqa: PLC0415
        FormatError,
        OtherGraphError,
        UnknownDeviceError,
        located,
    )
    from streamplace.files import read_graph, read_placement  # noqa: PLC0415
    from streamplace.files.text import name_of  # noqa: PLC0415
    from streamplace.progress import working  # noqa: PLC0415

    with working("reading"):
        own = read_graph(graph)
        try:
            stored = read_placement(
                placement,
                graph=own,
                cluster=options.the_cluster(cluster_file, devices),
                source_rate=source_rates,
                model=model,  # type: ignore[arg-type]  # one of MODELS
                target_utilisation=target_utilisation,
            )
        except OtherGraphError as error:
            raise FormatError(f"{error} (the graph is {name_of(graph)})") from None
        except UnknownDeviceError as error:
            beside = f" (the cluster is {name_of(cluster_file)})" if cluster_file else ""
            raise FormatError(f"{error}{beside}") from None
    if given and stored.problem.model != "engine":
        name = next(iter(given)).replace("_", "-")
        raise click.UsageError(f"--{name} is for --model engine")
    if as_json and given.get("trace") == "-":
        raise click.UsageError("--trace - and --json both want stdout")
    inputs = (graph, placement, cluster_file)
    with working("simulating"), located(name_of(graph)):
        found = score.measured(*engine.run(stored, given, inputs)) if given else None
        scored = found or score.simulate(stored)
    if as_json:
        options.print_json(scored.to_dict())
    else:
        show.score(stored, scored)


@click.command()
@click.argument("graph", type=choices.GRAPH)
@options.cluster
@options.constraints
@options.source_rates
@options.model
@options.target_utilisation
@click.option(
    "--placer",
    type=choices.PLACER,
    default="auto",
    show_default=True,
    metavar="NAME",
    help="NAME[:OPTION=VALUE…]",
)
@options.time_limit
@click.option(
    "--start",
    callback=options.file_name,
    type=choices.FILE,
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
    type=choices.FILE,
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
    from streamplace import replacing, solve  # noqa: PLC0415 - a command loads what it needs
    from streamplace.cli import show  # noqa: PLC0415
    from streamplace.cli.targets import check_targets, weights_of  # noqa: PLC0415
    from streamplace.errors import located  # noqa: PLC0415
    from streamplace.files import read_placement  # noqa: PLC0415
    from streamplace.files.text import name_of  # noqa: PLC0415
    from streamplace.placers import registry  # noqa: PLC0415
    from streamplace.progress import working  # noqa: PLC0415

    inputs = (graph, cluster_file, constraints_file, *weights_of(placer))
    check_targets({"-o": output}, inputs)  # --start may be replaced by what comes of it
    cluster = options.the_cluster(cluster_file, devices)
    with working("reading"):
        problem = _problem(
            graph,
            cluster,
            constraints_file,
            whole_operators,
            source_rate=source_rates,
            model=model or "bottleneck",
            target_utilisation=1.0 if target_utilisation is None else target_utilisation,
        )
        old = None if start is None else read_placement(start)
    if time_limit is not None and not limited:
        placer = registry.with_limit(placer, time_limit)
    found = None
    with working("placing"), located(constraints_file or name_of(graph)):
        if old is None:
            result = solve.solve(problem, placer, seed)
        else:
            found = replacing.replace(
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
        show.result(result, to_stderr=output == "-")
        if found is not None:
            show.replacement(found, to_stderr=output == "-")


@click.command()
@click.argument("a", type=choices.FILE)
@click.argument("b", type=choices.FILE)
@options.common
def diff(a: str, b: str, seed: int, as_json: bool) -> None:
    """Show which operators move between placements A and B, and what that changes.

    Each is scored as its file tells. Devices are told apart by name: what ran on one that B lacks
    moves.

    \b
    streamplace diff before.json after.json
    streamplace diff before.json after.json --json
    """
    from streamplace.cli import show  # noqa: PLC0415 - a command loads what it needs
    from streamplace.errors import located  # noqa: PLC0415
    from streamplace.files import read_placement  # noqa: PLC0415
    from streamplace.files.text import name_of  # noqa: PLC0415
    from streamplace.moves import difference  # noqa: PLC0415
    from streamplace.progress import working  # noqa: PLC0415

    with working("reading"):
        before, after = read_placement(a), read_placement(b)
    with located(f"{name_of(a)} and {name_of(b)}"):
        found = difference(before, after)
    if as_json:
        options.print_json(found.to_dict())
    else:
        show.difference(found)


def _problem(
    graph: str,
    cluster: "Cluster | None",
    constraints_file: str | None,
    whole: bool = False,
    **told: Any,
) -> "Problem":
    """Read the problem; what is wrong is told of the file that it is wrong in."""
    from streamplace.constraints import Constraints  # noqa: PLC0415 - see place
    from streamplace.errors import located  # noqa: PLC0415
    from streamplace.files import read_constraints, read_graph  # noqa: PLC0415
    from streamplace.files.text import name_of  # noqa: PLC0415
    from streamplace.flows import flow  # noqa: PLC0415
    from streamplace.problem import Problem  # noqa: PLC0415

    read = read_graph(graph)
    constraints = None if constraints_file is None else read_constraints(constraints_file)
    without = None if constraints is None else Constraints()
    with located(name_of(graph)):
        problem = Problem(read, cluster, constraints=without, **told)
        flow(problem)
    if constraints is None and not whole:
        return problem
    rules = read.constraints if constraints is None else constraints
    if whole:
        from streamplace.engines.whole import whole_operators  # noqa: PLC0415 - seldom

        rules = whole_operators(read, rules)
    with located(constraints_file or name_of(graph)):
        return Problem(read, cluster, constraints=rules, **told)
