"""Notes of `place --job-file` on stderr."""

from streamplace.cli.command import print_note
from streamplace.cli.place_notes import one_core_note
from streamplace.jobs.result import JobsResult
from streamplace.problem.assumptions import assumptions, guesses
from streamplace.scoring.suspect_units import suspect_unit


def print_jobs_notes(result: JobsResult) -> None:
    """Print what the shares assume, and which operators fill a core that their graph omits."""
    for job in result.jobs:
        placement = result.placements[job.name]
        limit, graph = job.limited_by, placement.problem.graph
        for assumed in (*assumptions(placement), *filter(None, [guesses(graph)])):
            print_note(f"{job.name}: {assumed}")
        suspect = suspect_unit(graph, placement.problem.cluster, job.source_rate)
        print_note(suspect and f"{job.name}: {suspect}")
        if limit and limit.kind == "operator":
            print_note(one_core_note(f"{job.name}: ", limit.name, placement))
