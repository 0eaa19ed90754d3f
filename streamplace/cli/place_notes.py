"""Notes of the command `place` on stderr."""

from streamplace.cli import options
from streamplace.problem.assumptions import assumptions
from streamplace.problem.graph import StreamGraph
from streamplace.problem.graph_checks import listed
from streamplace.problem.uncertainty import without_effect
from streamplace.workflows.makespan_result import MakespanResult
from streamplace.workflows.result import Result


def print_notes(inherited: str, result: Result | MakespanResult, *, wants_confidence: bool) -> None:
    """Print what comes from the initial placement, what is assumed, and what has no effect.

    A limit of one core is printed if an operator is the bottleneck whose cores the graph does not
    state.
    """
    options.print_note(inherited)
    for assumed in assumptions(result.placement):
        options.print_note(assumed)
    if not isinstance(result, Result):
        return
    if result.latency is not None and result.latency.answer == "unproven":
        options.print_note(f"latency limit {result.latency.limit}: unproven")
    top, graph = result.score.bottleneck, result.placement.problem.graph
    if wants_confidence:
        _print_ignored(result)
    if top.kind == "operator":
        options.print_note(one_core_note("", top.name, graph))


def one_core_note(start: str, operator: str, graph: StreamGraph) -> str:
    """Return a note, after `start`, on an operator that fills a core; none if it states cores."""
    if operator in graph.stated_cores:
        return ""
    return (
        f"{start}operator {operator!r} can use one core of its device, since its 'cores' are not "
        "set: set them if it has several threads, or split it into more instances"
    )


def _print_ignored(result: Result) -> None:
    """Print which standard errors have no effect, and whether --confidence has none."""
    ignored = without_effect(result.placement.problem.graph)
    if ignored:
        names = listed(f"{number.kind} of {number.name}" for number in ignored)
        options.print_note(f"standard errors of numbers that are 0 have no effect: {names}")
    if result.confidence is None:
        other = "other " if ignored else ""
        options.print_note(
            f"--confidence has no effect: no {other}cost of the graph has a standard error "
            "(instructions_se, payload_bytes_se, selectivity_se)"
        )
