"""What the commands that profile a job share: options, costs, and the summary of a profile."""

from collections.abc import Callable
from dataclasses import dataclass
from math import isnan
from typing import Any

from streamplace.cli import options, param_types
from streamplace.cli.command import group, option, print_json, print_note
from streamplace.cli.terminal import console, print_table
from streamplace.display.view import Grid
from streamplace.errors import BackendError, located
from streamplace.files import write_dataset
from streamplace.formats.costs import Costs
from streamplace.formats.profiling.estimates import MIN_INTERVALS, Estimate
from streamplace.formats.profiling.profile import Profile
from streamplace.problem.assumptions import without_tuples
from streamplace.problem.graph import UNKNOWN, StreamGraph
from streamplace.problem.logical import LogicalGraph
from streamplace.util.text import counted


@dataclass(frozen=True)
class JobOptions(options.Common):
    """The options of all commands for jobs that a server describes."""

    mips: float = option(
        "--mips",
        type=param_types.MIPS,
        callback=param_types.above_0,
        required=True,
        metavar="M",
        help="Speed of one core of the job's devices, in million instructions/s; used to convert "
        "measured seconds to instructions.",
    )
    costs_file: str | None = options.costs(
        "File of numbers to use instead of measured ones, or where nothing can be measured; format "
        "as in `streamplace import --help`."
    )
    objective: None = options.no_objective("profile measures costs, which serve every objective")
    form: options.InstanceForm = group(options.InstanceForm)
    output: str = options.graph_output()
    timeout: float = options.seconds(
        "--timeout", 10, "Seconds to wait for each answer of the server.", param_types.limit
    )


def read_costs(file: str | None) -> Callable[[LogicalGraph], LogicalGraph]:
    """Read the user's costs; return the function that applies them to a logical graph."""
    if file is None:
        return lambda logical: logical
    costs = Costs.read(file)

    def apply(logical: LogicalGraph) -> LogicalGraph:
        with located(file):
            return costs.of(logical)

    return apply


def write_profile(
    found: Profile,
    costed: StreamGraph,
    graph: StreamGraph,
    chosen: JobOptions,
    fault: str,
    to_stderr: bool,
    **more: Any,
) -> None:
    """Write the graph, and print the measurements; `costed` is the logical graph with all costs."""
    write_dataset(chosen.output, [graph])
    if found.without_error and not fault:
        print_note(
            f"{counted(found.without_error, 'cost')} measured without a standard error, which "
            f"needs at least {MIN_INTERVALS} intervals between readings: place --confidence takes "
            "them as exact"
        )
    if chosen.as_json:
        facts = {"file": chosen.output, "fault": fault or None, **found.to_dict()}
        print_json({**facts, "unknown": graph.unknown, **more})
    else:
        _print_profile(found, costed, graph, to_stderr)


def say_uneven(logical: LogicalGraph) -> None:
    """Name the operators of whose instances one has a larger share of the tuples."""
    for name, shares in sorted(logical.measured_shares.items()):
        most = f"{max(shares):.0%} of its tuples, {max(shares) * len(shares):.3g} times the mean"
        print_note(f"uneven: one of {len(shares)} instances of {name!r} has {most}")


def end(fault: str, output: str) -> None:
    """Raise the server's fault, if any; the measurements made before it are already written."""
    if fault:
        kept = "on stdout" if output == "-" else f"in {output}"
        raise BackendError(f"{fault}; the measurements made before that are {kept}")


def _print_profile(
    profile: Profile, costed: StreamGraph, graph: StreamGraph, to_stderr: bool = False
) -> None:
    """Print the measured numbers with their standard errors, and what is unknown.

    Parameters
    ----------
    costed
        The profile's logical graph after --costs.
    graph
        The graph that is written.
    """
    out = console(to_stderr)
    out.print(f"source rate {figure(profile.source_rate)} tuples/s ({watched(profile)})")
    print_table(out, _operators(profile))
    if profile.streams:
        print_table(out, _streams(profile))
    for reason in reasons(profile, costed):
        out.print(reason)
    for source, target in profile.logical.guessed:
        out.print(f"guessed stream: {source} -> {target}")
    for note in profile.logical.notes:
        out.print(f"note: {note}")
    for unknown in graph.lacking:
        out.print(f"unknown: {unknown}")
    if idle := without_tuples(graph):
        out.print(f"note: {idle}")


def _operators(profile: Profile) -> Grid:
    def row(i: int) -> tuple[str, ...]:
        each = profile.operators[i]
        return each.name, *map(figure, (each.rate, each.instructions, each.payload_bytes))

    return Grid(("operator", "tuples/s", "instructions", "bytes"), len(profile.operators), row)


def _streams(profile: Profile) -> Grid:
    def row(i: int) -> tuple[str, ...]:
        stream = profile.streams[i]
        figures = map(figure, (stream.selectivity, stream.payload_bytes))
        return f"{stream.source} -> {stream.target}", *figures

    return Grid(("stream", "selectivity", "bytes"), len(profile.streams), row)


def watched(profile: Profile) -> str:
    """Return for how long the counters were watched, as text."""
    if not profile.seconds:
        return "over an unknown time" if profile.intervals else "no tuple was counted"
    several = f"{profile.intervals} intervals, " if profile.intervals > 1 else ""
    return f"{several}{profile.seconds:.3g} s"


def figure(estimate: Estimate) -> str:
    """Return an estimate with its standard error, or in brackets if it is a bound."""
    if estimate.value is None or estimate.how == "chained":
        return estimate.how
    if estimate.how == "bound":
        return f"({estimate.value:,.4g})"
    error = "" if estimate.error is None else f" ± {estimate.error:,.2g}"
    return f"{estimate.value:,.5g}{error}"


def reasons(profile: Profile, costed: StreamGraph) -> list[str]:
    """Return one line per reason for missing numbers and bounds; it names the first of them.

    Numbers that the graph has from --costs are left out.
    """
    rate = UNKNOWN if costed.source_rate is None else costed.source_rate
    numbers = [("source rate", profile.source_rate, rate)]
    for each in profile.operators:
        v = costed.index[each.name]
        numbers += [(f"instructions of {each.name}", each.instructions, costed.instructions[v])]
        numbers += [(f"bytes of {each.name}", each.payload_bytes, costed.payload_bytes[v])]
    for stream, selectivity in zip(profile.streams, costed.selectivity, strict=True):
        name = f"selectivity of {stream.source} -> {stream.target}"
        numbers += [(name, stream.selectivity, selectivity)]
    found: dict[str, list[str]] = {}
    for name, estimate, number in numbers:
        if estimate.why and isnan(number):
            found.setdefault(estimate.why, []).append(name)
    return [
        f"{names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''}: {why}"
        for why, names in found.items()
    ]
