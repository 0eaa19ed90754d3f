"""The command `diff`: what moves between two placements."""

from dataclasses import dataclass

from streamplace.cli import makespan_options, options, param_types
from streamplace.cli.command import argument, command, group, print_json, print_note
from streamplace.cli.inputs import whole_placement
from streamplace.cli.makespan_options import Asked, MakespanSettings
from streamplace.cli.terminal import print_result
from streamplace.errors import located
from streamplace.execution.progress import working
from streamplace.files.assignments import read_placement_json
from streamplace.files.reading import name_of
from streamplace.problem.assumptions import guesses
from streamplace.problem.makespan import PublishedName
from streamplace.workflows.diff import diff as difference


@dataclass(frozen=True)
class DiffOptions(options.Common):
    """The options of `diff`."""

    a: str = argument(type=param_types.FILE)
    b: str = argument(type=param_types.FILE)
    objective: str | None = options.objective("that of each placement")
    makespan: MakespanSettings = group(MakespanSettings)
    semantics: PublishedName | None = makespan_options.semantics()


@command(DiffOptions)
def diff(chosen: DiffOptions) -> None:
    """Show which operators move between two placements.

    A and B are placement files of the same operators. The output also shows the memory that moves
    and how throughput or makespan changes; each placement is scored with the graph, cluster and
    objective stored in its file. If only one of the objectives is a makespan, both are scored under
    that of B. Devices are matched by name, so operators on a device that is missing from B count as
    moved. Operators with other numbers of instances in B are listed with the devices on which
    instances start or stop.

    \b
    Examples:
    streamplace diff before.json after.json
    streamplace diff before.json after.json --json
    streamplace diff before.json after.json --objective makespan --batch 100
    """
    with working("reading"):
        asked = Asked.of(chosen.objective, chosen.makespan, chosen.seed)
        values = [read_placement_json(file) for file in (chosen.a, chosen.b)]
        before, after = (
            whole_placement(value, name_of(file), asked.over, beside=other)
            for file, value, other in ((chosen.a, *values), (chosen.b, *values[::-1]))
        )
        if chosen.semantics is not None:
            before = makespan_options.under_semantics(before, chosen.semantics)
            after = makespan_options.under_semantics(after, chosen.semantics)
    with located(f"{name_of(chosen.a)} and {name_of(chosen.b)}"):
        found = difference(before, after)
    for file, placement in ((chosen.a, before), (chosen.b, after)):
        if guessed := guesses(placement.problem.graph):
            print_note(f"{name_of(file)}: {guessed}")
    if chosen.as_json:
        print_json(found.to_dict())
    else:
        print_result(found)
