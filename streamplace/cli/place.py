"""`streamplace simulate`, `place` and `diff`: one placement at a time."""

import click

from streamplace.cli import options


@click.command()
@click.argument("graph")
@click.argument("placement")
@options.cluster
@options.source_rate
@options.model
@options.common
def simulate(
    graph: str,
    placement: str,
    cluster_file: str | None,
    devices: str | None,
    source_rate: float | None,
    model: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """Score PLACEMENT of GRAPH.

    What is not told comes from the placement file; for CEPSim files from the graph, the default
    cluster and bottleneck.

    \b
    streamplace simulate graph.json placement.json --source-rate 2e4 --model path-average
    """
    from streamplace import score  # noqa: PLC0415
    from streamplace.cli import show  # noqa: PLC0415 - a command loads what it needs
    from streamplace.files import read_graph, read_placement  # noqa: PLC0415

    stored = read_placement(
        placement,
        graph=read_graph(graph),
        cluster=options.the_cluster(cluster_file, devices),
        source_rate=source_rate,
        model=model,  # type: ignore[arg-type]  # one of MODELS
    )
    scored = score.simulate(stored)
    if as_json:
        options.print_json(scored.to_dict())
    else:
        show.score(stored, scored)


@click.command()
@click.argument("graph")
@options.cluster
@click.option("--constraints", "constraints_file", metavar="FILE", help="A constraints object.")
@options.source_rate
@options.model
@click.option("--placer", default="auto", show_default=True, help="NAME[:OPTION=VALUE…]")
@click.option("-o", "output", metavar="FILE", help="Placement file to write, or -.")
@options.common
def place(
    graph: str,
    cluster_file: str | None,
    devices: str | None,
    constraints_file: str | None,
    source_rate: float | None,
    model: str | None,
    placer: str,
    output: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """Place the operators of GRAPH on devices.

    \b
    streamplace place graph.json -o placement.json
    streamplace place dataset:real/riotbench-etl.json --placer metis-oracle --devices 3x2500
    """
    if output == "-" and as_json:
        raise click.UsageError("-o - and --json both want stdout")
    from streamplace import solve  # noqa: PLC0415 - a command loads what it needs
    from streamplace.cli import show  # noqa: PLC0415
    from streamplace.files import read_constraints, read_graph, write_placement  # noqa: PLC0415
    from streamplace.problem import Problem  # noqa: PLC0415
    from streamplace.progress import working  # noqa: PLC0415

    with working("reading"):
        problem = Problem(
            read_graph(graph),
            options.the_cluster(cluster_file, devices),
            source_rate=source_rate,
            constraints=read_constraints(constraints_file) if constraints_file else None,
            model=model or "bottleneck",  # type: ignore[arg-type]  # one of MODELS
        )
    with working("placing"):
        result = solve.solve(problem, placer, seed)
    if output:
        facts = result.to_dict()
        del facts["assignment"]
        kept = {key: facts.pop(key) for key in ("placer", "bound", "gap")}
        del facts["seconds"]
        write_placement(output, result.placement, **kept, score=facts)
    if as_json:
        options.print_json(result.to_dict())
    else:
        show.result(result, to_stderr=output == "-")


@click.command()
@click.argument("a")
@click.argument("b")
@options.common
def diff(a: str, b: str, seed: int, as_json: bool) -> None:
    """Show which operators move between placements A and B, and what that changes."""
    from streamplace.cli import show  # noqa: PLC0415 - a command loads what it needs
    from streamplace.files import read_placement  # noqa: PLC0415
    from streamplace.moves import difference  # noqa: PLC0415

    found = difference(read_placement(a), read_placement(b))
    if as_json:
        options.print_json(found.to_dict())
    else:
        show.difference(found)
