"""The command `simulate`: the score of a placement."""

from typing import Any

import click

from streamplace.cli import engine_options, options, param_types


@click.command()
@click.argument("graph", type=param_types.GRAPH)
@click.argument("placement", type=param_types.FILE)
@options.cluster("the placement's")
@options.losses
@options.source_rates("the placement's")
@options.model("the placement's")
@options.target_utilisation("the placement's")
@options.objective("the placement's")
@engine_options.options
@options.common
def simulate(
    graph: str,
    placement: str,
    cluster_file: str | None,
    devices: str | None,
    without: str | None,
    slow: str | None,
    source_rates: tuple[float, ...] | None,
    model: str | None,
    target_utilisation: float | None,
    objective: str | None,
    seed: int,
    as_json: bool,
    **engine_values: Any,
) -> None:
    """Score a placement of a graph.

    Options that you leave out take their values from the PLACEMENT file. A placement in CEPSim's
    format does not store them; the defaults are then the graph's source rate, the cluster 5x2500
    and the bottleneck model.

    Constraints, labels, memory and resources that the placement violates are listed on stderr; the
    score is that of the placement as it is.

    The options marked "Engine" require --model engine.

    \b
    Examples:
    streamplace simulate graph.json placement.json --source-rate 2e4 --model path-average
    streamplace simulate graph.json placement.json --model engine --plot run.png
    streamplace simulate graph.json placement.json --model engine --scene s.json --trace t.json
    """
    chosen = {name: value for name, value in engine_values.items() if value is not None}
    from streamplace.cli.numba_loading import load_numba  # noqa: PLC0415 - loaded when the command runs

    load_numba()
    from streamplace.cli.current import placement_of_graph  # noqa: PLC0415
    from streamplace.cli.terminal import console, print_view  # noqa: PLC0415
    from streamplace.errors import (  # noqa: PLC0415
        FormatError,
        OtherGraphError,
        UnknownDeviceError,
        located,
    )
    from streamplace.execution.progress import working  # noqa: PLC0415
    from streamplace.files import read_graph  # noqa: PLC0415
    from streamplace.files.reading import name_of  # noqa: PLC0415
    from streamplace.problem.objectives import only_throughput  # noqa: PLC0415
    from streamplace.problem.violations import violations  # noqa: PLC0415
    from streamplace.scoring.engine_evaluator import score_of_run  # noqa: PLC0415
    from streamplace.scoring.throughput import simulate as score  # noqa: PLC0415

    kind = options.the_objective(objective)
    with working("reading"):
        own = read_graph(graph)
        try:
            stored, note = placement_of_graph(
                placement,
                graph=own,
                cluster=options.the_cluster(cluster_file, devices),
                source_rate=source_rates,
                model=model,
                target_utilisation=target_utilisation,
                objective=kind,
            )
        except OtherGraphError as error:
            raise FormatError(f"{error} (the graph is {name_of(graph)})") from None
        except UnknownDeviceError as error:
            cluster_note = f" (the cluster is {name_of(cluster_file)})" if cluster_file else ""
            raise FormatError(f"{error}{cluster_note}") from None
        if lost := options.the_losses(without, slow):
            with located(name_of(placement)):
                stored = lost.placement(stored)
    options.print_note(note)
    if chosen:
        name = next(iter(chosen)).replace("_", "-")
        if stored.problem.model != "engine":
            raise click.UsageError(f"--{name} requires --model engine")
        reason = "engine options support only throughput"
        only_throughput(stored.problem.objective, f"--{name}: {reason}")
    if as_json and chosen.get("trace") == "-":
        raise click.UsageError("cannot combine --trace - with --json: both write to stdout")
    inputs = (graph, placement, cluster_file)
    with working("simulating"), located(name_of(graph)):
        found = score_of_run(*engine_options.run(stored, chosen, inputs)) if chosen else None
        scored = found or score(stored)
    violated = list(violations(stored))
    for each in violated:
        options.print_note(f"{name_of(placement)}: violates {each.rule}: {each.why}")
    if as_json:
        entry = {"violations": [each.to_dict() for each in violated]} if violated else {}
        options.print_json({**scored.to_dict(), **entry})
    else:
        print_view(console(), scored.view_with(stored))
