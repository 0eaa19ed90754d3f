"""A profile for people."""

from streamplace.cli.terminal import console, print_table
from streamplace.integrations.profiling.estimates import Estimate
from streamplace.integrations.profiling.profile import Profile
from streamplace.problem.graph import StreamGraph


def profile(found: Profile, graph: StreamGraph, to_stderr: bool = False) -> None:
    """Print what was measured, each number with its standard error, and what is not known."""
    out = console(to_stderr)
    out.print(f"source rate {said(found.source_rate)} tuples/s ({watched(found)})")
    rows = [
        (each.name, *map(said, (each.rate, each.instructions, each.payload_bytes)))
        for each in found.operators
    ]
    print_table(out, ("operator", "tuples/s", "instructions", "bytes"), rows)
    if found.streams:
        rows = [
            (
                f"{stream.source} -> {stream.target}",
                said(stream.selectivity),
                said(stream.payload_bytes),
            )
            for stream in found.streams
        ]
        print_table(out, ("stream", "selectivity", "bytes"), rows)
    for why in reasons(found):
        out.print(why)
    for source, target in found.logical.guessed:
        out.print(f"guessed: {source} -> {target}")
    for note in found.logical.notes:
        out.print(f"note: {note}")
    for what in graph.lacking:
        out.print(f"not known: {what}")


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
