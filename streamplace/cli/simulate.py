"""The command `simulate`: the score of a placement."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import click

from streamplace.cli import inputs, makespan_options, options, param_types
from streamplace.cli.command import argument, command, group, print_json, print_note
from streamplace.cli.engine_options import EngineOptions
from streamplace.cli.inputs import naming_the_default, placement_of_graph
from streamplace.cli.makespan_options import Asked, MakespanSettings
from streamplace.cli.output_files import check_targets
from streamplace.cli.terminal import console, print_view
from streamplace.display.formats import kind_of
from streamplace.errors import (
    FormatError,
    OtherGraphError,
    StreamplaceError,
    UnknownDeviceError,
    located,
)
from streamplace.execution.progress import working
from streamplace.files import read_graph
from streamplace.files.assignments import read_placement_json
from streamplace.files.placements import proven_bound
from streamplace.files.reading import name_of
from streamplace.problem.assumptions import assumptions, guesses
from streamplace.problem.counts import expanded
from streamplace.problem.makespan import PublishedName
from streamplace.problem.objectives import only_throughput
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.problem.rules import violations
from streamplace.scoring.score import Score, ThroughputScore
from streamplace.scoring.suspect_units import suspect_of
from streamplace.util.plugins import load_ours
from streamplace.workflows.simulate import score_of

ENGINE_RUN = "streamplace.ticks.commands:prepared"
"""Runs the engine as its options say."""
Run = Callable[[Placement], ThroughputScore]


@dataclass(frozen=True)
class SimulateOptions(options.Common):
    """The options of `simulate`."""

    files: tuple[str, ...] = argument(
        nargs=-1, required=True, type=param_types.GRAPH, metavar="[GRAPH] PLACEMENT"
    )
    cluster: options.ClusterChoice = options.cluster("the placement's")
    lost: options.LostDevices = group(options.LostDevices)
    throughput: options.ThroughputChoice = options.throughput("the placement's")
    objective: str | None = options.objective("the placement's")
    engine: EngineOptions = group(EngineOptions)
    makespan: MakespanSettings = group(MakespanSettings)
    semantics: PublishedName | None = makespan_options.semantics()
    gantt: str | None = options.file(
        "--gantt",
        "Makespan: picture of the schedule to write (.png, .svg or .pdf).",
    )

    @property
    def graph(self) -> str | None:
        """The file of the graph; None if the placement's own is used."""
        return self.files[0] if len(self.files) > 1 else None

    @property
    def placement(self) -> str:
        """The file of the placement."""
        return self.files[-1]


@command(SimulateOptions)
def simulate(chosen: SimulateOptions) -> None:
    """Score a placement of a graph.

    Without GRAPH, the graph in the PLACEMENT file is used, if that file stores one.

    Options that you leave out take their values from the PLACEMENT file. A placement in CEPSim's
    format does not store them; the defaults are then the graph's source rate, the cluster 5x2500
    and the bottleneck model.

    Constraints, labels, memory, slots and resources that the placement violates are listed on
    stderr; the score is that of the placement as it is.

    The options marked "Engine" require --model engine, and those marked "Makespan" require
    --objective makespan, unless the placement was made with it.

    \b
    Examples:
    streamplace simulate placement.json
    streamplace simulate graph.json placement.json --source-rate 2e4 --model path-average
    streamplace simulate graph.json placement.json --model engine --plot run.png
    streamplace simulate graph.json placement.json --model engine --scene s.json --trace t.json
    streamplace simulate graph.json p.json --model engine --arrivals poisson --service exponential
    streamplace simulate graph.json placement.json --objective makespan --gantt schedule.png
    """
    if len(chosen.files) > 2:  # noqa: PLR2004 - a graph and a placement
        raise click.UsageError(f"unexpected argument {chosen.files[2]!r:.80} after PLACEMENT")
    engine_values, semantics = chosen.engine.chosen, chosen.semantics
    needing = {"semantics": semantics, "gantt": chosen.gantt}
    asked = Asked.of(
        chosen.objective,
        chosen.makespan,
        chosen.seed,
        *(name for name, value in needing.items() if value is not None),
    )
    makespan_options.refuse_rates(asked.kind, chosen.throughput.changes)
    run = _run(chosen)
    with working("reading"):
        stored, note, value = _placement(chosen, asked)
        if lost := inputs.the_losses(chosen.lost):
            with located(name_of(chosen.placement)):
                stored = lost.placement(stored)
        if semantics is not None:
            with located(name_of(chosen.placement)):
                stored = makespan_options.under_semantics(stored, semantics)
    _check_options(stored.problem, engine_values, chosen.gantt)
    with working("simulating"), located(name_of(_at_fault(stored, chosen))):
        scored: Score
        if run is not None:
            scored = run(stored)
        else:
            scored = score_of(stored).with_bound(proven_bound(value, stored.problem))
        scored = scored.with_system(semantics)
    if chosen.gantt is not None:
        makespan_options.draw(chosen.gantt, stored, scored)
    print_note(note)
    if "problem" not in value:
        inputs.print_assumed(chosen.cluster)
    for assumed in assumptions(stored):
        print_note(assumed)
    print_note(guesses(stored.problem.graph))
    if stored.problem.objective.has_rates:
        print_note(suspect_of(stored.problem, cast("ThroughputScore", scored)))
    violated = list(violations(stored))
    for each in violated:
        print_note(f"{name_of(chosen.placement)}: violates {each.rule}: {each.why}")
    if chosen.as_json:
        entry = {"violations": [each.to_dict() for each in violated]} if violated else {}
        print_json({**scored.to_dict(), **entry})
    else:
        print_view(console(), scored.view_with(stored))


def _run(chosen: SimulateOptions) -> Run | None:
    """Return the run of the engine that options ask for; None if none does.

    They, and files to write, are refused before any file is read.
    """
    options.refuse_both_on_stdout(chosen.engine.trace, chosen.as_json, "trace", "--trace")
    read_files = (chosen.graph, chosen.placement, chosen.cluster.cluster_file)
    if chosen.gantt is not None:
        kind_of(chosen.gantt)
    check_targets({"--gantt": chosen.gantt}, read_files)
    if not chosen.engine.chosen:
        return None
    run: Run = load_ours(ENGINE_RUN)(chosen.engine.chosen, read_files, chosen.seed)
    return run


def _placement(chosen: SimulateOptions, asked: Asked) -> tuple[Placement, str, Any]:
    """Read the placement, and a note if it was made for other numbers; see `placement_of_graph`.

    The last value is the JSON value of the file.
    """
    cluster_file = chosen.cluster.cluster_file
    graph = chosen.graph or chosen.placement
    cluster = inputs.the_cluster(chosen.cluster)
    own = None
    if chosen.graph is not None:
        with located(name_of(graph)):
            own = expanded(chosen.throughput.of_sources(read_graph(graph)))
    try:
        value = read_placement_json(chosen.placement)
        has_problem = isinstance(value, dict) and "problem" in value
        with naming_the_default(cluster is None and not has_problem):
            read = placement_of_graph(
                value,
                name_of(chosen.placement),
                asked.over,
                graph=own,
                cluster=cluster,
                **chosen.throughput.changes,
            )
        placement, note = read
        return (placement if own else _at_rates(placement, chosen.throughput)), note, value
    except OtherGraphError as error:
        raise FormatError(f"{error} (the graph is {name_of(graph)})") from None
    except UnknownDeviceError as error:
        cluster_note = f" (the cluster is {name_of(cluster_file)})" if cluster_file else ""
        raise FormatError(f"{error}{cluster_note}") from None
    except StreamplaceError as error:
        with located(name_of(graph)):  # the placement's file is named where it is at fault
            raise error from None


def _at_rates(placement: Placement, rates: options.ThroughputChoice) -> Placement:
    """Return the same placement at the rates of single sources, if they are stated."""
    problem = placement.problem
    graph = rates.of_sources(problem.graph)
    if graph is problem.graph:
        return placement
    rules, objective = problem.constraints, problem.objective
    changed = Problem(graph, problem.cluster, objective=objective, constraints=rules)
    return Placement(changed, placement.devices)


def _at_fault(stored: Placement, chosen: SimulateOptions) -> str:
    """Return the file at fault where there is no score.

    A mapping may have an operator on a device that cannot run it, so that no pass ends.
    """
    at_rates = stored.problem.objective.has_rates
    return (chosen.graph if at_rates else None) or chosen.placement


def _check_options(problem: Problem, engine_values: dict[str, Any], gantt: str | None) -> None:
    """Refuse options of the engine and of makespans where the objective has no use for them."""
    if engine_values:
        name = next(iter(engine_values)).replace("_", "-")
        reason = "is an option of the engine, which simulates only throughput"
        only_throughput(problem.objective, f"--{name} {reason}")
        if problem.model != "engine":
            raise click.UsageError(f"--{name} requires --model engine")
    if gantt is not None:
        makespan_options.require(problem.objective, "gantt")
