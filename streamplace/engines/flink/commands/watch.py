"""The command `watch`: a controller of running jobs."""

import json
import os
from collections.abc import Collection, Sequence
from contextlib import ExitStack, nullcontext, suppress
from pathlib import Path

import click

from streamplace.cli import inputs
from streamplace.cli.command import command, leaving, print_note
from streamplace.cli.output_files import check_targets
from streamplace.control.controller import Controller
from streamplace.control.decisions import Decision, Point, Timeline
from streamplace.control.interfaces import Clock, Events, NoJournal, Realiser, Steps, SystemClock
from streamplace.control.journal import OPENED, PID, Journal
from streamplace.control.lock import Lock
from streamplace.control.observation import Observation
from streamplace.control.plannable import check_operators
from streamplace.control.planning import SizePlanner
from streamplace.control.settings import ControllerSettings
from streamplace.control.watching import Watching
from streamplace.engines.flink.applying.apply import Options, check_jar_file, jar_on
from streamplace.engines.flink.applying.asking import Limits
from streamplace.engines.flink.applying.requests import Program
from streamplace.engines.flink.client import Client
from streamplace.engines.flink.cluster import faults_of_version
from streamplace.engines.flink.commands.watch_options import (
    ADAPTIVE,
    ADVISE,
    APPLY,
    GRAPH,
    JOURNAL,
    WatchOptions,
    check_modes,
    check_page,
)
from streamplace.engines.flink.deployment import owner_of
from streamplace.engines.flink.key_groups import as_running
from streamplace.engines.flink.watching.handing_out import HandingOut
from streamplace.engines.flink.watching.rescaling import AdaptiveRealiser
from streamplace.engines.flink.watching.restarting import PROGRESS, RestartRealiser
from streamplace.engines.flink.watching.sampling import Sampler
from streamplace.engines.flink.watching.windows import Devices, Windows, first_graph
from streamplace.errors import BackendError, FormatError, UsageError, located
from streamplace.files import read_graph, write_dataset
from streamplace.files.reading import name_of
from streamplace.files.writing import make_folder
from streamplace.formats.profiling.rest import Server
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.util.extras import load_drawing

PAGE = "streamplace.control.page:write_page"


@command(WatchOptions)
def flink(chosen: WatchOptions) -> None:
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
    check_modes(chosen)
    check_page(chosen.page_file, chosen.journal_folder)
    cluster = inputs.the_cluster(chosen.cluster)
    if cluster is None:
        raise click.UsageError(
            "missing --cluster or --devices: the devices on which instances may run"
        )
    _watch(Server(chosen.url), cluster, chosen)


def _watch(server: Server, cluster: Cluster, chosen: WatchOptions) -> None:
    settings, file = chosen.settings, chosen.graph_file
    stated = None if file is None else (read_graph(file), name_of(file))
    client, clock = Client(server, settings.answer_s), SystemClock()
    with ExitStack() as stack:  # files first: Flink is asked once they are in order
        is_new = not Path(chosen.journal_folder or "", JOURNAL).exists()
        if chosen.program.jar and is_new:  # before the folder of the journal is made
            check_jar_file(str(chosen.program.jar))
        journal = _journal(stack, chosen.journal_folder)
        _check_restart(journal, chosen)
        check_targets({"--page": chosen.page_file}, (chosen.cluster.cluster_file, file))
        needs_jar = bool(chosen.program.jar) and not journal.unfinished
        if needs_jar and not is_new:
            check_jar_file(str(chosen.program.jar))
        job = client.running_job(chosen.job)
        stack.enter_context(leaving(lambda: "" if journal.unfinished else f"job {job} goes on"))
        realiser = _realiser(client, job, cluster.names, chosen)
        lock = None if realiser is None else stack.enter_context(Lock(server.url, job))
        if needs_jar:
            _check_jar(server, str(chosen.program.jar), settings)
        if chosen.mode == APPLY and chosen.restart_by is None:
            _check_way(client, journal.jobs[-1] if journal.jobs else job, chosen)
        if not journal.jobs:
            _check_job(client, job, waits=chosen.graph_file is not None)
        journal.write(clock(), OPENED, **{PID: os.getpid()})  # for those that find it locked
        graph, origin = stated or _graph(server, job, cluster, chosen, journal)
        with located(origin):
            planner = SizePlanner(graph, cluster, settings)
            with suppress(BackendError):  # a server that does not answer is waited for
                limited = as_running(graph, client.state(job).most)
                planner = SizePlanner(limited, cluster, settings)
        chooses = chosen.mode == ADVISE or chosen.labels
        controller = Controller(settings, planner, chooses_devices=chooses)
        windows = _windows(client, graph, origin, cluster, settings, clock)
        events = _events(lock, chosen, client)
        Watching(job, windows, controller, journal, realiser, events).run(chosen.windows)


def _windows(
    client: Client,
    graph: StreamGraph,
    origin: str,
    cluster: Cluster,
    settings: ControllerSettings,
    clock: Clock,
) -> Windows:
    """Return the windows of a job, which has to have the operators of the graph."""

    def check_job(operators: Collection[str]) -> None:
        _check_version(client)
        with located(origin):
            check_operators(graph, operators)

    weights = dict(zip(graph.names, graph.instructions.tolist(), strict=True))
    sampler, devices = Sampler(client, clock), Devices(cluster.names)
    return Windows(sampler, devices, settings, clock, weights, check=check_job)


def _realiser(
    client: Client, job: str, devices: Sequence[str], chosen: WatchOptions
) -> Realiser | None:
    """Return what changes the job; None: nothing does."""
    if chosen.mode == ADVISE:
        return None
    settings, program = chosen.settings, chosen.program
    cancel_age_s = chosen.max_age if chosen.allow_cancel else None
    limits = Limits(settings.answer_s, settings.savepoint_s, settings.start_s, cancel_age_s)
    folder = Path(str(chosen.journal_folder))
    in_place = AdaptiveRealiser(client, limits)
    if chosen.restart_by == ADAPTIVE or not program.jar:
        return HandingOut(client, folder, in_place)
    how = Options(
        job,
        str(program.jar),
        Program(program.entry_class, program.arguments),
        program.savepoint_dir,
        without_uids=program.without_uids,
        limits=limits,
    )
    pinned = devices if chosen.labels else ()
    restarts = RestartRealiser(client, how, pinned, _note)
    chooses = chosen.restart_by is None and not chosen.labels
    return HandingOut(client, folder, in_place, restarts, chooses)


def _check_restart(journal: Steps, chosen: WatchOptions) -> None:
    """Refuse to go on without a jar after a restart that was interrupted."""
    unfinished = journal.unfinished
    started = any(each.step == PROGRESS for each in unfinished)
    if chosen.mode == ADVISE or chosen.program.jar or not started:
        return
    file, job = Path(str(chosen.journal_folder)) / JOURNAL, unfinished[0].details["job"]
    raise click.UsageError(
        f"missing --jar: {file} has a restart of job {job} that was interrupted, so the job may be "
        "stopped; name the jar as before"
    )


def _check_job(client: Client, job: str, *, waits: bool) -> None:
    """Refuse a job that does not exist, or a version of Flink, before the first window.

    Parameters
    ----------
    waits
        Whether a server that does not answer is waited for; otherwise it is a fault.
    """
    with suppress(BackendError) if waits else nullcontext():
        _check_version(client)
        client.check_job(job)


def _check_version(client: Client) -> None:
    for fault in faults_of_version(client.version()):
        raise UsageError(f"{client.server.url}: {fault}")


def _check_way(client: Client, job: str, chosen: WatchOptions) -> None:
    """Say if the job will not be restarted; refuse a job that could only be, without a jar."""
    try:
        found = client.scheduled(client.state(job))
        if owner_of(client.config(), found.name) is not None:  # which gets documents only
            return
    except BackendError:  # it is waited for, and the first action says what it lacks
        return
    is_adaptive, jar = found.is_adaptive, chosen.program.jar
    if not is_adaptive and not jar:
        raise click.UsageError(
            f"missing --jar: job {job} does not run under the adaptive scheduler, so a change "
            "starts its jar again from a savepoint"
        )
    if is_adaptive and jar and not chosen.labels:
        print_note(
            f"job {job} runs under the adaptive scheduler, so its numbers of instances change "
            "while it runs, without --jar"
        )


def _check_jar(server: Server, jar: str, settings: ControllerSettings) -> None:
    """Refuse a jar that does not exist, before the first action needs it."""
    with suppress(BackendError):  # a server that does not answer is waited for
        jar_on(server, jar, settings.answer_s)


def _note(text: str) -> None:
    """Print a line on stderr; a terminal that is closed must not interrupt an action."""
    with suppress(OSError):
        print_note(text)


def _journal(stack: ExitStack, folder: str | None) -> Steps:
    if folder is None:
        return NoJournal()
    return stack.enter_context(Journal(make_folder(folder) / JOURNAL))


def _events(lock: Lock | None, chosen: WatchOptions, client: Client) -> Events:
    """Return what prints decisions, writes the page, and locks the jobs that are watched.

    A page that cannot be written is a fault after the first window, and a note later.

    Parameters
    ----------
    lock
        None if nothing is changed.
    """
    timeline = Timeline()
    names = dict[str, str]()  # job -> its name, which a restart keeps

    def name_of_job(job: str) -> str:
        if job not in names:
            with suppress(BackendError):
                names.update({each.id: each.name for each in client.listed()})
        return names.get(job) or f"job {job}"

    class Output(Events):
        job = ""

        def decided(self, observation: Observation, decision: Decision) -> None:
            line = json.dumps(decision.to_dict(), ensure_ascii=False) if chosen.as_json else None
            click.echo(line or str(decision))
            timeline.add(Point.of(observation, decision))
            self.show()

        def ended(self) -> None:
            if timeline.points:
                self.show(ended=True)

        def show(self, *, ended: bool = False) -> None:
            if chosen.page_file is None:
                return
            page, title = Path(chosen.page_file), name_of_job(self.job)
            try:
                load_drawing(PAGE)(page, title, chosen.mode, timeline, chosen.settings, ended=ended)
            except FormatError as error:
                if len(timeline.points) == 1 and not ended:
                    raise
                _note(str(error))

        def say(self, line: str) -> None:
            _note(line)

        def follow(self, job: str) -> None:
            if lock is not None:
                lock.follow(job)
            self.job = job

    return Output()


def _graph(
    server: Server, job: str, cluster: Cluster, chosen: WatchOptions, journal: Steps
) -> tuple[StreamGraph, str]:
    """Return the graph of the journal, or that of the job, and where it is from.

    A measured graph is kept beside the journal: the next controller may find the job stopped.
    """
    settings = chosen.settings
    folder = chosen.journal_folder
    measured = None if folder is None else Path(folder) / GRAPH
    if measured is not None and journal.jobs and measured.exists():
        print_note(f"the graph is that of {measured}, which was measured before")
        return read_graph(measured), str(measured)
    if journal.unfinished:
        raise click.UsageError(
            "missing --graph: the journal has an action that was interrupted, so the job cannot be "
            "measured now; name the graph as before"
        )
    print_note(f"measuring the job for {settings.window_s:g} s, as no --graph is named")
    latest = journal.jobs[-1] if job in journal.jobs else job
    graph, notes = first_graph(
        server, latest, cluster, settings.window_s, settings.answer_s, chosen.seed
    )
    for note in notes:
        print_note(note)
    if measured is not None:
        write_dataset(measured, [graph])
    return graph, f"job {latest}"
