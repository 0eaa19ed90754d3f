"""The command `report`: an interactive HTML page of placements."""

from dataclasses import dataclass

from streamplace.cli import makespan_options, options, param_types
from streamplace.cli.command import argument, command, group, print_json, print_note
from streamplace.cli.inputs import under_objective
from streamplace.cli.makespan_options import Asked, MakespanSettings
from streamplace.cli.output_files import check_targets
from streamplace.errors import UsageError, located
from streamplace.execution.progress import working
from streamplace.files.assignments import read_placement_json
from streamplace.files.placements import placement_from
from streamplace.files.reading import name_of
from streamplace.files.stored_objectives import names_a_class
from streamplace.problem.assumptions import guesses
from streamplace.problem.makespan import PublishedName
from streamplace.problem.placement import Placement
from streamplace.reports.data import titles
from streamplace.reports.report import Report, stored_entry


@dataclass(frozen=True)
class ReportOptions(options.Common):
    """The options of `report`."""

    placements: tuple[str, ...] = argument(
        nargs=-1, required=True, type=param_types.FILE, metavar="PLACEMENT…"
    )
    output: str = options.file(
        "-o",
        "File to write, .html; - is stdout.",
        required=True,
    )
    objective: str | None = options.objective("the placement's")
    makespan: MakespanSettings = group(MakespanSettings)
    semantics: PublishedName | None = makespan_options.semantics()


@command(ReportOptions)
def report(chosen: ReportOptions) -> None:
    """Write placements as an interactive HTML page.

    The page is a single file that works offline. It shows the graph, the bottleneck and the
    utilisations, and updates them when you drag operators to other devices or change rates, speeds
    and bandwidths. All figures are those of the bottleneck model. Graphs of more than 500 operators
    are not drawn, but all of their figures are shown.

    A placement that was made for the makespan, or any with --objective makespan, is shown with its
    schedule as a Gantt chart, which follows when you drag operators to other devices. The options
    marked "Makespan" require this objective.

    \b
    Examples:
    streamplace report placement.json -o report.html
    streamplace report metis.json auto.json -o report.html
    streamplace report auto.json --objective makespan --batch 1000 -o report.html
    """
    options.refuse_both_on_stdout(chosen.output, chosen.as_json, "page")

    check_targets({"-o": chosen.output}, chosen.placements)
    if chosen.output != "-" and not chosen.output.lower().endswith((".html", ".htm")):
        raise UsageError(
            f"-o {chosen.output}: a report is HTML; its name must end in .html or .htm"
        )
    asked, entries = Asked.of(chosen.objective, chosen.makespan, chosen.seed), []
    with working("reading and scoring"):
        for file, title in zip(chosen.placements, titles(chosen.placements), strict=True):
            value, name = read_placement_json(file), name_of(file)
            instead = asked.kind if names_a_class(value) else None
            placement = placement_from(value, name, objective=instead)
            with located(name):
                shown = _under(placement, asked)
                if chosen.semantics is not None:
                    shown = makespan_options.under_semantics(shown, chosen.semantics)
                # what the file says of the placement holds only for the problem in it
                stored = value if shown is placement else {"placer": value.get("placer", "")}
                entries.append(stored_entry(title, shown, stored, name))
                if guessed := guesses(shown.problem.graph):
                    print_note(f"{name}: {guessed}")
    found = Report(tuple(entries))
    found.save(chosen.output)
    if chosen.as_json:
        rows = zip(chosen.placements, found.to_dict()["placements"], strict=True)
        placements = [{"file": file, **row} for file, row in rows]
        print_json({"file": chosen.output, "placements": placements})
    elif chosen.output != "-":
        print_note(f"wrote {chosen.output}")


def _under(placement: Placement, asked: Asked) -> Placement:
    """Return a placement under the objective that the options set; itself if they set none."""
    stored = placement.problem.objective
    objective = asked.over(stored)
    if objective is None or objective == stored:
        return placement
    return under_objective(placement, objective)
