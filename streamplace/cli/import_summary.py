"""The summary of an import: what was read, guessed and assumed, and what is missing."""

from collections.abc import Sequence

from streamplace.cli.terminal import console, print_line
from streamplace.display.view import Line, Names
from streamplace.problem.assumptions import without_tuples
from streamplace.problem.graph import StreamGraph
from streamplace.problem.graph_checks import listed


def print_import(
    graph: StreamGraph, guessed: Sequence[tuple[str, str]], notes: Sequence[str], file: str
) -> None:
    """Print on stderr what was read, what was guessed, and what is unknown."""
    out = console(to_stderr=True)
    sizes = {"operator": len(graph.names), "stream": len(graph.streams)}
    counts = ", ".join(f"{n:,} {what}{'' if n == 1 else 's'}" for what, n in sizes.items())
    out.print(f"wrote {file}: {counts}" if file != "-" else counts)
    if guessed:
        print_line(
            out, Line("guessed streams: {}", (Names.of([f"{a} -> {b}" for a, b in guessed]),))
        )
    for note in notes:
        out.print(f"note: {note}")
    for unknown in graph.lacking:
        out.print(f"unknown: {unknown}")
    if graph.source_rate is None:
        needed = ", which only throughput needs" if graph.firing == "all" else ""
        out.print(f"unknown: source rate{needed}; set it in --costs or with place --source-rate")


def assumptions(graph: StreamGraph) -> list[str]:
    """Return the assumptions of an import about facts that job files rarely state."""
    found = [without_tuples(graph)]
    shares = graph.source_share[graph.sources]
    each_whole = graph.firing == "all"  # every source emits a tuple per tuple of the job
    if not each_whole and len(shares) > 1 and shares.max() == shares.min():
        sources = listed(graph.names[v] for v in graph.sources)
        found += [f"{sources} share the source rate equally, unless --costs has [source_shares]"]
    return [sentence for sentence in found if sentence]
