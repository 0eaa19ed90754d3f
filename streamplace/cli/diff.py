"""The command `diff`: what moves between two placements."""

from functools import partial
from typing import Any

import click

from streamplace.cli import from_options, makespan_options, options, param_types, printing
from streamplace.problem.makespan import PublishedName


@click.command()
@click.argument("a", type=param_types.FILE)
@click.argument("b", type=param_types.FILE)
@options.objective("that of each placement")
@makespan_options.options
@makespan_options.semantics
@options.common
def diff(
    a: str,
    b: str,
    objective: str | None,
    semantics: PublishedName | None,
    seed: int,
    as_json: bool,
    **makespan_values: Any,
) -> None:
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
    from streamplace.cli.current import whole_placement  # noqa: PLC0415 - loaded when the command runs
    from streamplace.cli.terminal import print_result  # noqa: PLC0415
    from streamplace.errors import located  # noqa: PLC0415
    from streamplace.execution.progress import working  # noqa: PLC0415
    from streamplace.files.assignments import read_placement_json  # noqa: PLC0415
    from streamplace.files.reading import name_of  # noqa: PLC0415
    from streamplace.workflows.diff import difference  # noqa: PLC0415

    with working("reading"):
        kind = from_options.the_objective(objective)
        settings = partial(
            makespan_options.with_settings,
            kind,
            makespan_values,
            seed,
            is_bare=objective == makespan_options.BARE,
        )
        values = [read_placement_json(file) for file in (a, b)]
        before, after = (
            whole_placement(value, name_of(file), settings, beside=other)
            for file, value, other in ((a, *values), (b, *values[::-1]))
        )
        if semantics is not None:
            before = makespan_options.under_semantics(before, semantics)
            after = makespan_options.under_semantics(after, semantics)
    with located(f"{name_of(a)} and {name_of(b)}"):
        found = difference(before, after)
    if as_json:
        printing.print_json(found.to_dict())
    else:
        print_result(found)
