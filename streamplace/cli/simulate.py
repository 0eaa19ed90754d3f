"""The command `simulate`: the score of a placement."""

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from streamplace.cli import (
    checks,
    engine_options,
    from_options,
    makespan_options,
    options,
    param_types,
    printing,
)
from streamplace.problem.makespan import PublishedName

if TYPE_CHECKING:
    from streamplace.problem.placement import Placement
    from streamplace.problem.problem import Problem


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
@makespan_options.options
@makespan_options.semantics
@click.option(
    "--gantt",
    callback=checks.file_name,
    type=param_types.FILE,
    metavar="FILE",
    help="Makespan: picture of the schedule to write (.png, .svg or .pdf).",
)
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
    semantics: PublishedName | None,
    gantt: str | None,
    seed: int,
    as_json: bool,
    **values: Any,
) -> None:
    """Score a placement of a graph.

    Options that you leave out take their values from the PLACEMENT file. A placement in CEPSim's
    format does not store them; the defaults are then the graph's source rate, the cluster 5x2500
    and the bottleneck model.

    Constraints, labels, memory, slots and resources that the placement violates are listed on
    stderr; the score is that of the placement as it is.

    The options marked "Engine" require --model engine, and those marked "Makespan" require
    --objective makespan, unless the placement was made with it.

    \b
    Examples:
    streamplace simulate graph.json placement.json --source-rate 2e4 --model path-average
    streamplace simulate graph.json placement.json --model engine --plot run.png
    streamplace simulate graph.json placement.json --model engine --scene s.json --trace t.json
    streamplace simulate graph.json p.json --model engine --arrivals poisson --service exponential
    streamplace simulate graph.json placement.json --objective makespan --gantt schedule.png
    """
    makespan_values = {name: values.pop(name) for name in makespan_options.NAMES}
    chosen = {name: value for name, value in values.items() if value is not None}
    from streamplace.cli.output_files import check_targets  # noqa: PLC0415
    from streamplace.cli.terminal import console, print_view  # noqa: PLC0415
    from streamplace.errors import located  # noqa: PLC0415
    from streamplace.execution.progress import working  # noqa: PLC0415
    from streamplace.files.placements import proven_bound_s  # noqa: PLC0415
    from streamplace.files.reading import name_of  # noqa: PLC0415
    from streamplace.problem.assumptions import assumptions  # noqa: PLC0415
    from streamplace.problem.violations import violations  # noqa: PLC0415
    from streamplace.scoring.makespan_score import MakespanScore  # noqa: PLC0415
    from streamplace.workflows.simulate import score_of  # noqa: PLC0415

    kind = from_options.the_objective(objective)
    changes = {
        "source_rate": source_rates,
        "model": model,
        "target_utilisation": target_utilisation,
    }
    makespan_options.refuse_rates(kind, changes)
    with working("reading"):
        stored, note, value = _placement(
            graph,
            placement,
            cluster_file,
            objective_of=partial(
                makespan_options.with_settings,
                kind,
                {**makespan_values, "semantics": semantics, "gantt": gantt},
                seed,
                is_bare=objective == makespan_options.BARE,
            ),
            cluster=from_options.the_cluster(cluster_file, devices),
            **changes,
        )
        if lost := from_options.the_losses(without, slow):
            with located(name_of(placement)):
                stored = lost.placement(stored)
        if semantics is not None:
            with located(name_of(placement)):
                stored = makespan_options.under_semantics(stored, semantics)
    printing.print_note(note)
    _check_options(stored.problem, chosen, gantt)
    inputs = (graph, placement, cluster_file)
    check_targets({"--gantt": gantt}, inputs)
    if as_json and chosen.get("trace") == "-":
        raise click.UsageError("cannot combine --trace - with --json: both write to stdout")
    with working("simulating"), located(name_of(_at_fault(stored, graph, placement))):
        found = engine_options.scored(stored, chosen, inputs, seed) if chosen else None
        scored = found or score_of(stored)
        if isinstance(scored, MakespanScore):
            scored = scored.with_proven(proven_bound_s(value, stored.problem))
        scored = makespan_options.naming_semantics(scored, semantics)
    if gantt is not None:
        makespan_options.draw(gantt, stored, scored)
    for assumed in assumptions(stored):
        printing.print_note(assumed)
    violated = list(violations(stored))
    for each in violated:
        printing.print_note(f"{name_of(placement)}: violates {each.rule}: {each.why}")
    if as_json:
        entry = {"violations": [each.to_dict() for each in violated]} if violated else {}
        printing.print_json({**scored.to_dict(), **entry})
    else:
        print_view(console(), scored.view_with(stored))


def _placement(
    graph: str, placement: str, cluster_file: str | None, **settings: Any
) -> "tuple[Placement, str, Any]":
    """Read the placement, and a note if it was made for other numbers; see `placement_of_graph`.

    The last value is the JSON value of the file.
    """
    from streamplace.cli.current import placement_of_graph  # noqa: PLC0415 - see simulate
    from streamplace.cli.default_cluster import naming_the_default  # noqa: PLC0415
    from streamplace.errors import (  # noqa: PLC0415
        FormatError,
        OtherGraphError,
        StreamplaceError,
        UnknownDeviceError,
        located,
    )
    from streamplace.files import read_graph  # noqa: PLC0415
    from streamplace.files.assignments import read_placement_json  # noqa: PLC0415
    from streamplace.files.reading import name_of  # noqa: PLC0415
    from streamplace.problem.counts import expanded  # noqa: PLC0415

    with located(name_of(graph)):
        own = expanded(read_graph(graph))
    try:
        value = read_placement_json(placement)
        with naming_the_default(settings["cluster"] is None and "problem" not in value):
            read = placement_of_graph(value, name_of(placement), graph=own, **settings)
        return *read, value
    except OtherGraphError as error:
        raise FormatError(f"{error} (the graph is {name_of(graph)})") from None
    except UnknownDeviceError as error:
        cluster_note = f" (the cluster is {name_of(cluster_file)})" if cluster_file else ""
        raise FormatError(f"{error}{cluster_note}") from None
    except StreamplaceError as error:
        with located(name_of(graph)):  # the placement's file is named where it is at fault
            raise error from None


def _at_fault(stored: "Placement", graph: str, placement: str) -> str:
    """Return the file at fault where there is no score.

    A mapping may have an operator on a device that cannot run it, so that no pass ends.
    """
    from streamplace.problem.makespan import Makespan  # noqa: PLC0415 - see simulate

    return placement if isinstance(stored.problem.objective, Makespan) else graph


def _check_options(problem: "Problem", engine_values: dict[str, Any], gantt: str | None) -> None:
    """Refuse options of the engine and of makespans where the objective has no use for them."""
    from streamplace.problem.objectives import only_throughput  # noqa: PLC0415 - see simulate

    if engine_values:
        name = next(iter(engine_values)).replace("_", "-")
        reason = "engine options support only throughput"
        only_throughput(problem.objective, f"--{name}: {reason}")
        if problem.model != "engine":
            raise click.UsageError(f"--{name} requires --model engine")
    if gantt is not None:
        from streamplace.plots.formats import kind_of  # noqa: PLC0415 - see simulate

        makespan_options.require(problem.objective, "gantt")
        kind_of(gantt)
