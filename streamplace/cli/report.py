"""The command `report`: an interactive HTML page of placements."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from streamplace.cli import checks, from_options, makespan_options, options, param_types, printing
from streamplace.problem.makespan import PublishedName

if TYPE_CHECKING:
    from streamplace.problem.objective import Objective
    from streamplace.problem.placement import Placement


@click.command()
@click.argument("placements", nargs=-1, required=True, type=param_types.FILE, metavar="PLACEMENT…")
@click.option(
    "-o",
    "output",
    type=param_types.FILE,
    callback=checks.file_name,
    required=True,
    metavar="FILE",
    help="File to write, .html; - is stdout.",
)
@options.objective("the placement's")
@makespan_options.options
@makespan_options.semantics
@options.common
def report(
    placements: tuple[str, ...],
    output: str,
    objective: str | None,
    semantics: PublishedName | None,
    seed: int,
    as_json: bool,
    **values: Any,
) -> None:
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
    if output == "-" and as_json:
        raise click.UsageError("cannot combine -o - with --json: both write to stdout")
    from streamplace.cli.output_files import check_targets  # noqa: PLC0415 - loaded when the command runs
    from streamplace.errors import UsageError, located  # noqa: PLC0415
    from streamplace.execution.progress import working  # noqa: PLC0415
    from streamplace.files.assignments import read_placement_json  # noqa: PLC0415
    from streamplace.files.atomic import write_text  # noqa: PLC0415
    from streamplace.files.jobs import outcomes_in  # noqa: PLC0415
    from streamplace.files.placements import placement_from  # noqa: PLC0415
    from streamplace.files.reading import name_of  # noqa: PLC0415
    from streamplace.files.stored_objectives import names_a_class  # noqa: PLC0415
    from streamplace.report.data import entry  # noqa: PLC0415
    from streamplace.report.html import report_html  # noqa: PLC0415
    from streamplace.report.titles import titles  # noqa: PLC0415

    check_targets({"-o": output}, placements)
    if output != "-" and not output.lower().endswith((".html", ".htm")):
        raise UsageError(f"-o {output}: a report is HTML; its name must end in .html or .htm")
    kind, entries = from_options.the_objective(objective), []
    with working("reading and scoring"):
        for file, title in zip(placements, titles(placements), strict=True):
            value, name = read_placement_json(file), name_of(file)
            instead = kind if names_a_class(value) else None
            placement = placement_from(value, name, objective=instead)
            with located(name):
                shown = _under(
                    placement, kind, values, seed, is_bare=objective == makespan_options.BARE
                )
                if semantics is not None:
                    shown = makespan_options.under_semantics(shown, semantics)
                proven = value.get("bound") if shown is placement else None
                made = entry(title, shown, value.get("placer", ""), proven)
                if shown is placement:
                    made = replace(made, jobs=outcomes_in(value, name))
                entries.append(made)
    write_text(output, report_html(entries))
    if as_json:
        rows = [
            {"file": file, "placer": one.placer, **one.to_dict()}
            for file, one in zip(placements, entries, strict=True)
        ]
        printing.print_json({"file": output, "placements": rows})
    elif output != "-":
        printing.print_note(f"wrote {output}")


def _under(
    placement: "Placement",
    objective: "Objective | None",
    values: dict[str, Any],
    seed: int,
    *,
    is_bare: bool,
) -> "Placement":
    """Return a placement under the objective that the options set; itself if they set none."""
    from streamplace.cli.current import under_objective  # noqa: PLC0415 - see report

    stored = placement.problem.objective
    chosen = makespan_options.with_settings(objective, values, seed, stored, is_bare=is_bare)
    if chosen is None or chosen == stored:
        return placement
    return under_objective(placement, chosen)
