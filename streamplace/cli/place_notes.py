"""Notes of the command `place` on stderr."""

from typing import cast

from streamplace.cli.command import print_note
from streamplace.placers.base import BOTH
from streamplace.placers.goal import time_limit_of
from streamplace.placers.registry import NamedPlacer
from streamplace.placers.search.nearby import SAME
from streamplace.problem.assumptions import assumptions
from streamplace.problem.graph_checks import listed
from streamplace.problem.placement import Placement
from streamplace.problem.uncertainty import without_effect
from streamplace.scoring.suspect_units import suspect_of
from streamplace.util.text import counted
from streamplace.workflows.migrate import Migration
from streamplace.workflows.remedies import remedies_of_core
from streamplace.workflows.result import Result
from streamplace.workflows.value_result import ValueResult

BUSY = 0.5  # share of a search's seconds; with less CPU time, its answer is that of a short search
LEAST_NOTED_S = 0.25  # shorter searches have not run to their limit


def print_slow_search(placer: NamedPlacer, cpu_s: float, seconds: float) -> None:
    """Print that other programs left little CPU time to a search whose time is limited."""
    if time_limit_of(placer) is not None:
        left = f"other programs left the search {cpu_s:.2g} s of CPU time in {seconds:.2g} s"
        print_note(f"{left}; a longer --time-limit may find a better placement")


def print_notes(
    inherited: str,
    result: Result | ValueResult,
    unlimited: Migration | None,
    *,
    wants_confidence: bool,
) -> None:
    """Print what comes from the initial placement, what is assumed, and what has no effect.

    A limit of one core is printed if an operator limits throughput whose cores the graph does not
    state.

    Parameters
    ----------
    unlimited
        A new placement with moves that no option limits, if there is one.
    """
    if inherited:
        print_note(inherited)
    if unlimited is not None:
        print_note(_moves_note(unlimited))
    for assumed in assumptions(result.placement):
        print_note(assumed)
    if result.placement.problem.objective.has_rates:
        _print_notes_on_loads(cast("Result", result), wants_confidence=wants_confidence)


def _print_notes_on_loads(result: Result, *, wants_confidence: bool) -> None:
    top = result.score.bottleneck
    if suspect := suspect_of(result.placement.problem, result.score):
        print_note(suspect)
    if wants_confidence:
        _print_ignored(result)
    if top.kind == "operator" and result.score.relative_throughput < 1:
        print_note(one_core_note("", top.name, result.placement))


def _moves_note(found: Migration) -> str:
    """Return a note on how many operators move, if options could have limited that."""
    moved, problem = len(found.forced) + len(found.chosen), found.result.placement.problem
    if not moved or problem.objective.quantity not in BOTH:
        return ""
    count = counted(len(problem.graph.names), "operator")
    least, after = found.staying, found.result.score.value
    advice = "--max-moves or --move-cost limits that"
    if moved > found.fewest and abs(after - least.value) <= SAME * least.value:
        advice = f"--max-moves 0 gives the same {least.measured} with {found.fewest:,}"
    return f"{moved:,} of {count} move; {advice}"


def one_core_note(start: str, operator: str, placement: Placement) -> str:
    """Return a note, after `start`, on an operator that fills a core, with what would help.

    There is none if it states cores, or if neither more of them nor more instances would help.
    """
    if operator in placement.problem.graph.stated_cores:
        return ""
    words: dict[str, str] = {
        "cores": "set them if it has several threads",
        "instances": "find more instances with streamplace size",
    }
    helping = [words[remedy] for remedy in remedies_of_core(placement, operator)]
    one_core = "can use one core of its device, since its 'cores' are not set"
    return f"{start}operator {operator!r} {one_core}: {', or '.join(helping)}" if helping else ""


def _print_ignored(result: Result) -> None:
    """Print which standard errors have no effect, and whether --confidence has none."""
    ignored = without_effect(result.placement.problem.graph)
    if ignored:
        names = listed(f"{number.kind} of {number.name}" for number in ignored)
        print_note(f"standard errors of numbers that are 0 have no effect: {names}")
    if result.confidence is None:
        other = "other " if ignored else ""
        print_note(
            f"--confidence has no effect: no {other}cost of the graph has a standard error "
            "(instructions_se, payload_bytes_se, selectivity_se)"
        )
