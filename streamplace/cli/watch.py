"""The command `watch`: a controller of running jobs."""

import json
from collections.abc import Callable, Collection
from contextlib import ExitStack, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streamplace.cli import checks, from_options, options, param_types, printing
from streamplace.cli.program_options import program
from streamplace.cli.rules_options import duration, rules, the_rules
from streamplace.cli.watch_files import JOURNAL, check_page
from streamplace.cli.watch_graph import graph_of
from streamplace.cli.watch_modes import ADAPTIVE, ADVISE, APPLY, RESTART, check_modes

if TYPE_CHECKING:
    from streamplace.control.decisions import Decision
    from streamplace.control.flink.acting import Backend
    from streamplace.control.flink.parts import Writes
    from streamplace.control.flink.watching import Watching
    from streamplace.control.observation import Observation
    from streamplace.control.rules import Rules
    from streamplace.integrations.profiling.rest import Server
    from streamplace.problem.cluster import Cluster


@click.group()
def watch() -> None:
    """Watch a running job, and advise on changes or make them.

    \b
    Example:
    streamplace watch flink http://localhost:8081 --job 0a1b… --cluster cluster.json
    """


@watch.command()
@click.argument("url")
@options.identifier("--job", "Id of the job.", required=True)
@options.cluster("none; one of the two is required")
@click.option(
    "--graph",
    "graph_file",
    type=param_types.FILE,
    callback=checks.file_name,
    metavar="FILE",
    help="The job's graph, with its numbers of instances and their limits.  [default: measured "
    "during a first window, and kept beside the journal]",
)
@click.option(
    "--mode",
    type=param_types.Choice([ADVISE, APPLY]),
    default=ADVISE,
    show_default=True,
    help="Print plans and change nothing (advise), or carry them out (apply).",
)
@click.option(
    "--restart-by",
    type=param_types.Choice([RESTART, ADAPTIVE]),
    help="How changes are made: a restart from a savepoint, or the adaptive scheduler, which has "
    "no labels.  [default: restart]",
)
@program(required=False)
@click.option(
    "--allow-cancel",
    is_flag=True,
    help="Cancel the job if its savepoint does not end in time, where its latest checkpoint is "
    "retained and younger than --max-age; otherwise it is left running.",
)
@click.option(
    "--max-age",
    type=param_types.NUMBER,
    callback=duration,
    metavar="S",
    help="Largest age of the checkpoint from which a cancelled job goes on.",
)
@click.option(
    "--labels",
    is_flag=True,
    help="Pin instances to devices by the labels of TaskManagers. Otherwise only numbers of "
    "instances are set, and Flink chooses the slots.",
)
@click.option(
    "--journal",
    "journal_folder",
    callback=checks.file_name,
    metavar="DIR",
    help="Folder of the journal, from which a controller that was killed goes on. Required by "
    "--mode apply.",
)
@click.option(
    "--page",
    "page_file",
    callback=checks.file_name,
    metavar="FILE",
    help="HTML page with the timeline, written anew after every window.",
)
@click.option(
    "--windows",
    type=param_types.Whole(1),
    metavar="N",
    help="End after N windows.  [default: when the job ends]",
)
@rules
@options.common
def flink(url: str, job: str, **chosen: Any) -> None:
    """Watch a Flink job.

    After every window of measurements, one line says what is decided, and why. In the mode advise
    (the default), only reading requests are sent. In the mode apply, the job is changed if that
    pays: more instances where the busiest one is above --high, fewer where all are below --low, or
    other devices where one was lost. State is never deleted.

    The controller sees neither controllers on other machines nor changes made by hand while it
    acts. Ctrl-C ends it, after the end of an action that is under way; the job goes on.

    \b
    Examples:
    streamplace watch flink http://localhost:8081 --job 0a1b… --cluster cluster.json
    streamplace watch flink http://localhost:8081 --job 0a1b… --devices 3x2500x4 --page now.html
    """
    from streamplace.control.rules import Rules  # noqa: PLC0415 - loaded when the command runs
    from streamplace.integrations.profiling.rest import Server  # noqa: PLC0415

    fields = {name: chosen.pop(name) for name in Rules.__dataclass_fields__}
    kept = the_rules(chosen["scale"], **fields)
    check_modes(chosen)
    check_page(chosen["page_file"], chosen["journal_folder"])
    cluster = from_options.the_cluster(chosen["cluster_file"], chosen["devices"])
    if cluster is None:
        raise click.UsageError(
            "missing --cluster or --devices: the devices on which instances may run"
        )
    _watch(Server(url), job, cluster, kept, chosen)


def _watch(
    server: "Server", job: str, cluster: "Cluster", kept: "Rules", chosen: dict[str, Any]
) -> None:
    from streamplace.cli.output_files import check_targets  # noqa: PLC0415 - slow to load
    from streamplace.control.controller import Controller  # noqa: PLC0415 - loaded when it runs
    from streamplace.control.flink.clock import SystemClock  # noqa: PLC0415
    from streamplace.control.flink.devices import Devices  # noqa: PLC0415
    from streamplace.control.flink.sampling import Sampler  # noqa: PLC0415
    from streamplace.control.flink.watching import Watching  # noqa: PLC0415
    from streamplace.control.flink.windows import Windows  # noqa: PLC0415
    from streamplace.control.lock import Lock  # noqa: PLC0415
    from streamplace.control.plannable import check_operators  # noqa: PLC0415
    from streamplace.control.planning import SizePlanner  # noqa: PLC0415
    from streamplace.errors import located  # noqa: PLC0415

    backend = _backend(server, job, kept, chosen)
    with ExitStack() as stack:
        follow: Callable[[str], object] = lambda job: None  # noqa: E731
        if backend is not None:
            follow = stack.enter_context(Lock(server.url, job)).follow
        journal = _journal(stack, chosen["journal_folder"])
        check_targets(
            {"--page": chosen["page_file"]}, (chosen["cluster_file"], chosen["graph_file"])
        )
        if chosen["jar"] and not journal.unfinished:
            _check_jar(server, chosen["jar"], kept)
        if not journal.jobs:
            _check_job(server, job, kept, waits=chosen["graph_file"] is not None)
        graph, origin = graph_of(server, job, cluster, kept, chosen, journal)
        with located(origin):
            planner = SizePlanner(graph, cluster, kept)

        def check_job(operators: Collection[str]) -> None:
            with located(origin):
                check_operators(graph, operators)

        weights = dict(zip(graph.names, graph.instructions.tolist(), strict=True))
        chooses = chosen["mode"] == ADVISE or chosen["labels"]
        controller = Controller(kept, planner, chooses_devices=chooses)
        clock = SystemClock()
        sampler = Sampler(server, kept.answer_s, clock)
        windows = Windows(
            *(sampler, Devices(cluster.names), kept.window_s, clock, weights),
            check=check_job,
        )
        watching = Watching(job, windows, controller, journal, backend, say=_note, follow=follow)
        watching.decided = _output(watching, kept, chosen)
        watching.run(chosen["windows"])


def _backend(server: "Server", job: str, kept: "Rules", chosen: dict[str, Any]) -> "Backend | None":
    """Return what changes the job; None: nothing does."""
    from streamplace.control.flink.rescaling import AdaptiveBackend  # noqa: PLC0415
    from streamplace.control.flink.restarting import RestartBackend  # noqa: PLC0415
    from streamplace.integrations.flink.applying.progress import Limits  # noqa: PLC0415
    from streamplace.integrations.flink.applying.requests import Program  # noqa: PLC0415
    from streamplace.workflows.apply import Options  # noqa: PLC0415 - loaded when it runs

    if chosen["mode"] == ADVISE:
        return None
    cancel_age_s = chosen["max_age"] if chosen["allow_cancel"] else None
    limits = Limits(kept.answer_s, kept.savepoint_s, kept.start_s, cancel_age_s)
    if chosen["restart_by"] == ADAPTIVE:
        return AdaptiveBackend(server, limits)
    how = Options(
        job,
        chosen["jar"],
        Program(chosen["entry_class"], chosen["arguments"]),
        chosen["savepoint_dir"],
        labels=chosen["labels"],
        without_uids=chosen["without_uids"],
        limits=limits,
    )
    return RestartBackend(server, how, chosen["labels"], _note)


def _check_job(server: "Server", job: str, kept: "Rules", *, waits: bool) -> None:
    """Refuse a job that does not exist, before the first window.

    Parameters
    ----------
    waits
        Whether a server that does not answer is waited for; otherwise it is a fault.
    """
    from streamplace.errors import BackendError  # noqa: PLC0415 - loaded when the command runs
    from streamplace.integrations.flink.jobs import check_job  # noqa: PLC0415

    with suppress(BackendError) if waits else nullcontext():
        check_job(server, job, kept.answer_s)


def _check_jar(server: "Server", jar: str, kept: "Rules") -> None:
    """Refuse a jar that does not exist, before the first action needs it."""
    from streamplace.errors import BackendError  # noqa: PLC0415 - loaded when the command runs
    from streamplace.workflows.apply import jar_on  # noqa: PLC0415

    with suppress(BackendError):  # a server that does not answer is waited for
        jar_on(server, jar, kept.answer_s)


def _note(text: str) -> None:
    """Print a line on stderr; a terminal that is closed must not interrupt an action."""
    with suppress(OSError):
        printing.print_note(text)


def _journal(stack: ExitStack, folder: str | None) -> "Writes":
    from streamplace.control.flink.parts import NoJournal  # noqa: PLC0415 - loaded when it runs
    from streamplace.control.journal import Journal  # noqa: PLC0415
    from streamplace.files.atomic import make_folder  # noqa: PLC0415

    if folder is None:
        return NoJournal()
    return stack.enter_context(Journal(make_folder(folder) / JOURNAL))


def _output(
    watching: "Watching", kept: "Rules", chosen: dict[str, Any]
) -> "Callable[[Observation, Decision], object]":
    """Return what prints a decision and writes the page.

    A page that cannot be written is a fault after the first window, and a note later.
    """
    from streamplace.control.timeline import Point, Timeline  # noqa: PLC0415
    from streamplace.errors import FormatError  # noqa: PLC0415 - loaded when the command runs

    timeline = Timeline()

    def decided(observation: "Observation", decision: "Decision") -> None:
        line = json.dumps(decision.to_dict(), ensure_ascii=False) if chosen["as_json"] else None
        click.echo(line or str(decision))
        timeline.add(Point.of(observation, decision))
        if chosen["page_file"] is not None:
            from streamplace.control.page import write_page  # noqa: PLC0415 - slow to load

            page, title = Path(chosen["page_file"]), f"job {watching.job}"
            try:
                write_page(page, title, chosen["mode"], timeline, kept)
            except FormatError as error:
                if len(timeline.points) == 1:
                    raise
                _note(str(error))

    return decided
