"""A profile for people."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from streamplace.engines.estimates import Estimate
from streamplace.engines.profile import Profile
from streamplace.graph import StreamGraph

WIDTH_OF_FILES = 200  # where stdout is no terminal nothing is to be cut off


def profile(found: Profile, graph: StreamGraph, to_stderr: bool = False) -> None:
    """Print what was measured, each number with its standard error, and what is not known."""
    out = Console(stderr=to_stderr, highlight=False)
    if not out.is_terminal:
        out = Console(stderr=to_stderr, highlight=False, width=WIDTH_OF_FILES)
    out.print(f"source rate {said(found.source_rate)} tuples/s ({watched(found)})")
    table = Table("operator", "tuples/s", "instructions", "bytes", box=None, pad_edge=False)
    for each in found.operators:
        numbers = (each.rate, each.instructions, each.payload_bytes)
        table.add_row(escape(each.name), *map(said, numbers))
    out.print(table)
    if found.streams:
        table = Table("stream", "selectivity", "bytes", box=None, pad_edge=False)
        for stream in found.streams:
            ends = escape(f"{stream.source} -> {stream.target}")
            table.add_row(ends, said(stream.selectivity), said(stream.payload_bytes))
        out.print(table)
    for why in reasons(found):
        out.print(escape(why))
    for source, target in found.job.guessed:
        out.print(f"guessed: {escape(f'{source} -> {target}')}")
    for what in graph.unknown:
        out.print(f"not known: {escape(what)}")


def watched(found: Profile) -> str:
    """Return for how long counters were watched, or that documents do not tell."""
    if not found.seconds:
        return "in a time that is not told" if found.intervals else "nothing moved"
    several = f"{found.intervals} intervals, " if found.intervals > 1 else ""
    return f"{several}{found.seconds:.3g} s"


def said(estimate: Estimate) -> str:
    """Return a number as people read it."""
    if estimate.value is None:
        return "missing"
    if estimate.how == "bound":
        return f"({estimate.value:,.4g})"
    error = "" if estimate.error is None else f" ± {estimate.error:,.2g}"
    return f"{estimate.value:,.5g}{error}"


def reasons(found: Profile) -> list[str]:
    """Return why numbers are missing or bounds, each reason with the first that it holds for."""
    told: dict[str, list[str]] = {}
    numbers = [("source rate", found.source_rate)]
    for each in found.operators:
        numbers += [(f"instructions of {each.name}", each.instructions)]
        numbers += [(f"bytes of {each.name}", each.payload_bytes)]
    for stream in found.streams:
        numbers += [(f"selectivity of {stream.source} -> {stream.target}", stream.selectivity)]
    for name, estimate in numbers:
        if estimate.why:
            told.setdefault(estimate.why, []).append(name)
    return [
        f"{names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''}: {why}"
        for why, names in told.items()
    ]
