"""The form in which `import` and `profile` write parallel operators."""

from typing import TYPE_CHECKING

import click

from streamplace.cli import printing

if TYPE_CHECKING:
    from streamplace.problem.graph import StreamGraph
    from streamplace.problem.logical import LogicalGraph


def check_forms(*, fold: bool, logical: bool) -> None:
    """Refuse the options --fold and --logical together."""
    if fold and logical:
        raise click.UsageError("cannot combine --fold with --logical")


def graph_of(found: "LogicalGraph", *, fold: bool, logical: bool) -> "StreamGraph":
    """Return the graph to write; notes say what --logical does not keep."""
    from streamplace.problem.counts import with_counts  # noqa: PLC0415 - loaded when it runs
    from streamplace.problem.expansion import to_instances, to_operators  # noqa: PLC0415

    if logical:
        graph, notes = with_counts(found)
        for note in notes:
            printing.print_note(note)
        return graph
    return to_operators(found) if fold else to_instances(found)
