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
    """Return the graph to write; notes say what --logical and --fold do not keep."""
    from streamplace.problem.counts import uneven_notes, with_counts  # noqa: PLC0415 - loaded when it runs
    from streamplace.problem.expansion import to_instances, to_operators  # noqa: PLC0415

    if logical:
        graph, notes = with_counts(found)
    elif fold:
        graph, notes = to_operators(found), uneven_notes(found)
    else:
        return to_instances(found)
    for note in notes:
        printing.print_note(note)
    return graph
