"""The graph of the job that the command `watch` watches: from a file, or measured."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streamplace.cli import printing
from streamplace.cli.watch_files import GRAPH

if TYPE_CHECKING:
    from streamplace.control.flink.parts import Writes
    from streamplace.control.rules import Rules
    from streamplace.integrations.profiling.rest import Server
    from streamplace.problem.cluster import Cluster
    from streamplace.problem.graph import StreamGraph


def graph_of(
    server: "Server",
    job: str,
    cluster: "Cluster",
    kept: "Rules",
    chosen: dict[str, Any],
    journal: "Writes",
) -> "tuple[StreamGraph, str]":
    """Return the graph of the file, that of the journal, or that of the job, and where it is from.

    A measured graph is kept beside the journal: the next controller may find the job stopped.
    """
    from streamplace.control.flink.first_graph import first_graph  # noqa: PLC0415
    from streamplace.files import read_graph, write_dataset  # noqa: PLC0415 - loaded when it runs
    from streamplace.files.reading import name_of  # noqa: PLC0415

    if chosen["graph_file"] is not None:
        return read_graph(chosen["graph_file"]), name_of(chosen["graph_file"])
    folder = chosen["journal_folder"]
    measured = None if folder is None else Path(folder) / GRAPH
    if measured is not None and journal.jobs and measured.exists():
        printing.print_note(f"the graph is that of {measured}, which was measured before")
        return read_graph(measured), str(measured)
    if journal.unfinished:
        raise click.UsageError(
            "missing --graph: the journal has an action that was interrupted, so the job cannot be "
            "measured now; name the graph as before"
        )
    printing.print_note(f"measuring the job for {kept.window_s:g} s, as no --graph is named")
    latest = journal.jobs[-1] if job in journal.jobs else job
    graph, notes = first_graph(
        server, latest, cluster, kept.window_s, kept.answer_s, chosen["seed"]
    )
    for note in notes:
        printing.print_note(note)
    if measured is not None:
        write_dataset(measured, [graph])
    return graph, f"job {latest}"
