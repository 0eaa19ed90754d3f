"""The command `explain`: the bottleneck of a placement, or what its makespan consists of."""

from dataclasses import dataclass, replace
from typing import cast

import click

from streamplace.cli import inputs, makespan_options, options, param_types
from streamplace.cli.command import argument, command, group, option, print_json, print_note
from streamplace.cli.inputs import the_constraints, whole_placement
from streamplace.cli.makespan_options import Asked, MakespanSettings
from streamplace.cli.terminal import print_result
from streamplace.errors import BackendError, located
from streamplace.execution.progress import search_line, working
from streamplace.files.assignments import read_placement_json
from streamplace.files.placements import proven_bound
from streamplace.files.reading import name_of
from streamplace.problem.assumptions import guesses, several_sinks
from streamplace.problem.losses import Losses
from streamplace.problem.makespan import PublishedName
from streamplace.problem.placement import Placement
from streamplace.scoring.suspect_units import suspect_of
from streamplace.workflows.explain import explain as explanation_of
from streamplace.workflows.explain_losses import explain_losses
from streamplace.workflows.explanation import Explanation, ScoreExplanation
from streamplace.workflows.loss_explanation import LossExplanation
from streamplace.workflows.measurements import measure
from streamplace.workflows.naming_conflicts import naming_conflicts

WATCHING = ("--job", "--seconds", "--timeout")


@dataclass(frozen=True)
class ExplainOptions(options.Common):
    """The options of `explain`."""

    placement: str = argument(type=param_types.FILE)
    top: int = option(
        "--top",
        type=param_types.Whole(1),
        default=5,
        show_default=True,
        metavar="N",
        help="Number of rows to print per table; a critical path has up to 40 all the same.",
    )
    lost: options.LostDevices = group(options.LostDevices)
    objective: str | None = options.objective("the placement's")
    makespan: MakespanSettings = group(MakespanSettings)
    semantics: PublishedName | None = makespan_options.semantics()
    constraints_file: str | None = options.constraints("placement")
    constraint_costs: bool = option(
        "--constraint-costs",
        is_flag=True,
        help="List the constraints without which placements would carry more, by a short search "
        "without each.  [default: only if the source rate is not carried and this is quick]",
    )
    each_loss: bool = option(
        "--each-loss",
        is_flag=True,
        help="For each used device and group of devices: what stops if it fails, the share of the "
        "source rate that is left without moves, the fewest moves that restore it, and what is "
        "carried after them. Printed instead of the bottleneck.",
    )
    url: str | None = option(
        "--against",
        metavar="URL",
        help="Address of the REST API of a Flink cluster whose job runs as placed: print predicted "
        "beside measured utilisation, and which costs are off.",
    )
    job: str | None = options.flink_job("With --against. ")
    seconds: float = options.seconds("--seconds", 60, "With --against: seconds to watch the job.")
    timeout: float = options.seconds(
        "--timeout",
        10,
        "With --against: seconds to wait for each answer of the server.",
        param_types.limit,
    )


@command(ExplainOptions)
def explain(chosen: ExplainOptions) -> None:
    """Explain a placement, and list moves that would improve it.

    The output shows which operators or streams load the busiest device or link, and which single
    moves of operators would raise throughput. Operators that must stay together because of a
    constraint are moved together. A placement made under --model engine is explained with the
    bottleneck model. Constraints that the placement violates are listed, and those that cost
    throughput.

    Under the makespan objective, the output shows what the makespan consists of, the critical path
    with what each operator and message on it waited for, and which single moves would shorten it.
    Under the total cost, it shows which operators and messages cost the most.

    With --against, a running Flink job is watched, and predictions at the source rate that it
    receives now are printed beside what is measured. Utilisations of operators are shares of one
    core.

    \b
    Examples:
    streamplace explain placement.json
    streamplace explain placement.json --json
    streamplace explain placement.json --each-loss
    streamplace explain placement.json --objective makespan --order b-level
    streamplace explain placement.json --against http://localhost:8081 --seconds 120
    """
    if chosen.url is None:
        options.refuse_unused(dict.fromkeys(WATCHING, "--against"))
    asked = Asked.of(chosen.objective, chosen.makespan, chosen.seed)
    with working("reading"):
        document = read_placement_json(chosen.placement)
        read = _placement_after_changes(
            whole_placement(document, name_of(chosen.placement), asked.over),
            name_of(chosen.placement),
            inputs.the_losses(chosen.lost),
            chosen.constraints_file,
        )
        if chosen.semantics is not None:
            read = makespan_options.under_semantics(read, chosen.semantics)
    instead = {"against": chosen.url, "constraint-costs": chosen.constraint_costs}
    for name, value in {**instead, "each-loss": chosen.each_loss}.items():
        if value:
            makespan_options.refuse(read.problem.objective, name)
        if value and chosen.each_loss and name in instead:
            raise click.UsageError(f"cannot combine --each-loss with --{name}")
    print_note(guesses(read.problem.graph))
    if chosen.each_loss:
        with search_line("trying losses"), located(name_of(chosen.placement)):
            _print(chosen, explain_losses(read, seed=chosen.seed))
        return
    rules_file = chosen.constraints_file
    where = located(name_of(chosen.placement), constraints=rules_file and name_of(rules_file))
    with working("trying moves"), where, naming_conflicts():
        found = explanation_of(read, constraint_costs=chosen.constraint_costs, seed=chosen.seed)
        found = found.with_proven(proven_bound(document, read.problem))
    measured = None
    if chosen.url is not None:
        with working("watching"), located(name_of(chosen.placement)):
            measured = measure()(
                read,
                chosen.url,
                chosen.job,
                seconds=chosen.seconds,
                timeout_s=chosen.timeout,
                seed=chosen.seed,
            )
        for note in measured.against.notes:
            print_note(note)
        found = replace(cast("Explanation", found), against=measured.against)
    print_note(several_sinks(read.problem.graph))
    if read.problem.objective.has_rates:
        score = cast("Explanation", found).score
        print_note(suspect_of(found.placement.problem, score))
    _print(chosen, found)
    if measured is not None and measured.interrupted:
        raise KeyboardInterrupt
    if measured is not None and measured.fault:
        raise BackendError(f"{measured.fault}; the comparison is of the time before that")


def _print(chosen: ExplainOptions, found: Explanation | ScoreExplanation | LossExplanation) -> None:
    """Print what was found, as JSON if this was asked for."""
    if chosen.as_json:
        print_json(found.to_dict())
    else:
        print_result(found, limit=chosen.top)


def _placement_after_changes(
    read: Placement, name: str, lost: Losses, constraints_file: str | None
) -> Placement:
    """Return a placement after losses and under other constraints."""
    rules = the_constraints(constraints_file)
    if rules is not None:
        with located(str(constraints_file)):
            problem = read.problem.with_constraints(rules)
        read = Placement(problem, read.devices)
    if lost:
        with located(name):
            read = lost.placement(read)
    return read
