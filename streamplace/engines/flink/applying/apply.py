"""Placements applied to running Flink jobs."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from streamplace.engines.flink.applying import preflight, requests
from streamplace.engines.flink.applying.asking import Limits, Progress
from streamplace.engines.flink.applying.requests import Program, Request
from streamplace.engines.flink.applying.restart import Restart
from streamplace.engines.flink.applying.verification import places_that_differ
from streamplace.engines.flink.client import Client
from streamplace.engines.flink.cluster import FlinkCluster, faults_of_labels, faults_of_version
from streamplace.engines.flink.deployment import parallelism_of
from streamplace.engines.flink.documents import Job, expecting, last_cause
from streamplace.engines.flink.groups import Groups, groups_anywhere, groups_of
from streamplace.engines.flink.plan import running
from streamplace.engines.flink.slot_groups import mapping
from streamplace.errors import BackendError, ProblemError, UsageError
from streamplace.formats.profiling.rest import RefusedError, Server
from streamplace.problem.placement import Placement

CHECKED = "StreamplaceMapping: checked, without uid: ["
REFUSED = "StreamplaceMapping: "
JAVA_ARCHIVE = "application/x-java-archive"
ARCHIVE = b"PK\x03\x04"  # with which ZIP files begin
ON_SERVER = re.compile(r"[0-9a-f-]{36}_.+")  # the ids that Flink gives to uploaded jars


@dataclass(frozen=True)
class Options:
    """How a job is restarted.

    Parameters
    ----------
    job
        Id of the job.
    jar
        A file, or the id of a jar on the server.
    savepoint_dir
        Folder for the savepoint; None: the cluster's.
    savepoint
        Savepoint to start from if the job has ended; None: the one that it was stopped with.
    labels
        Whether groups ask for labels; None: if devices differ.
    numbers_only
        Whether Flink chooses the devices, so that only numbers of instances are set.
    without_uids
        Whether operators may lack a uid.
    """

    job: str
    jar: str
    program: Program = field(default_factory=Program)
    savepoint_dir: str | None = None
    savepoint: str | None = None
    labels: bool | None = None
    numbers_only: bool = False
    without_uids: bool = False
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class Prepared:
    """What the checks before a restart have read.

    Parameters
    ----------
    jar
        Id of the jar if it is on the server already.
    savepoint
        The savepoint to start from; None: the job runs, and is stopped with one.
    """

    job: Job
    cluster: FlinkCluster
    groups: Groups
    directory: str
    savepoint: str | None
    jar: str | None

    def requests(self, options: Options) -> list[Request]:
        """Return the requests of the restart in order."""
        return requests.planned(
            self.job.id,
            self.jar,
            options.program,
            mapping(self.groups),
            self.job.mapping,
            self.job.checkpoint_settings,
            self.directory,
            self.savepoint,
        )


def prepare(placement: Placement, client: Client, options: Options) -> Prepared:
    """Check job, cluster and jar by reading only.

    Raises
    ------
    ProblemError
        If the placement cannot be applied; the message lists all faults.
    UsageError
        If there is no such job or jar.
    BackendError
        If the server does not answer.
    """
    if options.numbers_only:
        return prepare_groups(groups_anywhere(parallelism_of(placement)), client, options)
    return prepare_groups(groups_of(placement, options.labels), client, options)


def prepare_groups(
    groups: Groups, client: Client, options: Options, job: Job | None = None
) -> Prepared:
    """Check job, cluster and jar for groups; see `prepare`.

    Parameters
    ----------
    job
        The job, if it has been read; None: it is read now.
    """
    try:
        job = client.job(options.job) if job is None else job
    except RefusedError as error:
        raise client.refusal(options.job, error) from None
    savepoint = (options.savepoint or job.stopped_at) if job.ended else None
    holder = job.id if savepoint is None else requests.successor(job.id, savepoint, 0)
    cluster = client.cluster(holder)
    directory = options.savepoint_dir or cluster.savepoint_dir
    operators = preflight.state_of_operators(job, groups.counts, client.state_by_vertex(job))
    version = client.version()
    faults = [
        *faults_of_version(version),
        *(faults_of_labels(version, cluster.config) if groups.labels else ()),
        *preflight.faults_of_job(job, groups, savepoint, options.limits.savepoint_s),
        *preflight.faults_of_cluster(cluster, groups, directory),
        *preflight.faults_of_state(job, groups.slots, cluster, operators),
    ]
    if options.savepoint is not None and not job.ended:
        faults.append("--savepoint is for a job that has ended, but this one has not")
    _refuse(job, faults)
    jar = jar_on(client.server, options.jar, client.within_s)
    groups = preflight.sized(groups, cluster)
    return Prepared(job, cluster, groups, directory or "", savepoint, jar)


def already_placed(prepared: Prepared, client: Client) -> dict[str, list[str]] | None:
    """Return operator -> its TaskManagers if the job was started with this mapping and runs so.

    None: it does not, so that it has to be restarted.

    Raises
    ------
    BackendError
        If the server does not answer.
    """
    job, former = prepared.job, prepared.job.mapping or ""
    if prepared.savepoint is not None or not job.runs:
        return None
    if sorted(former.splitlines()) != sorted(mapping(prepared.groups).splitlines()):
        return None
    hosts = client.hosts(job)
    return None if any(places_that_differ(prepared.groups, hosts, prepared.cluster)) else hosts


def check_jar(prepared: Prepared, server: Server, options: Options, jar: str) -> None:
    """Let the jar plan the job, without starting it, and check what it would run.

    Raises
    ------
    ProblemError
        If the jar does not call the Java helper, lacks operators or uids, or would lose state.
    BackendError
        If the server does not answer.
    """
    text, within_s = mapping(prepared.groups), options.limits.start_s
    asked = requests.check(jar, options.program, text)
    try:
        server.send(asked.method, asked.path, asked.body, within_s)
    except RefusedError as error:
        answer = error.answer
        if CHECKED not in answer:
            at = answer.find(REFUSED)
            if at >= 0:
                cause = answer[at:].split("\\n")[0]
                raise ProblemError(f"the jar does not plan the job: {cause}") from None
            raise ProblemError(
                "the jar does not plan the job with these --arg and --entry-class: "
                f"{last_cause(answer) or error}"
            ) from None
        line = answer.partition(CHECKED)[2].partition("\\n")[0]
        missing = line.rpartition("]")[0]
    else:
        raise ProblemError(
            "the jar does not call StreamplaceMapping.apply(env) before execute(); "
            "see export --to flink-helper"
        )
    if missing and not options.without_uids:
        _refuse(prepared.job, [f"operators without uid, so their state may be lost: {missing}"])
    asked = requests.plan(jar, options.program, text, chains=bool(missing))
    value = server.send(asked.method, asked.path, asked.body, within_s)
    with expecting(f"{server.url}{asked.path}"):
        plan = running(value["plan"], f"{server.url}{asked.path}")
    faults = preflight.faults_of_plan(plan, prepared.job, prepared.groups, uids=not missing)
    _refuse(prepared.job, list(faults))


def upload(server: Server, file: Path, within_s: float) -> str:
    """Upload a jar and return its id.

    Raises
    ------
    OSError
        If the file cannot be read.
    BackendError
        If the server does not take it.
    """
    answer = server.upload("/jars/upload", "jarfile", file, JAVA_ARCHIVE, within_s)
    with expecting(f"{server.url}/jars/upload"):
        return str(answer["filename"]).rpartition("/")[2]


def delete(server: Server, jar: str, within_s: float) -> None:
    """Delete an uploaded jar; a failure is of no consequence."""
    request = requests.delete(jar)
    try:
        server.send(request.method, request.path, None, within_s)
    except BackendError:
        return


def restart_of(
    prepared: Prepared,
    client: Client,
    options: Options,
    jar: str,
    say: Callable[[str], object],
    record: Callable[[Progress], object] = lambda progress: None,
) -> Restart:
    """Return the restart, which has not begun; see `Restart` for `say` and `record`."""
    return Restart(
        client,
        prepared.job,
        jar,
        options.program,
        mapping(prepared.groups),
        prepared.directory,
        options.limits,
        say,
        record,
    )


def check_jar_file(jar: str) -> bool:
    """Return whether a jar is a file here; otherwise its name is one that a server gives.

    Raises
    ------
    UsageError
        If it is neither, or the file is not a jar.
    OSError
        If the file cannot be read.
    """
    if not (file := Path(jar)).is_file():
        if ON_SERVER.fullmatch(jar):
            return False
        raise UsageError(f"--jar: {jar!r} is neither a file nor the id of an uploaded jar")
    with file.open("rb") as opened:
        is_archive = opened.read(len(ARCHIVE)) == ARCHIVE
    if not is_archive or file.suffix != ".jar":
        raise UsageError(
            f"--jar: {jar!r} is not a jar: an archive of classes with a name that ends in .jar"
        )
    return True


def jar_on(server: Server, jar: str, within_s: float) -> str | None:
    """Return the id of a jar on the server; None if it is a file here.

    Raises
    ------
    UsageError
        If there is no such jar, or the file is not one.
    OSError
        If the file cannot be read.
    BackendError
        If the server does not answer.
    """
    if check_jar_file(jar):
        return None
    listed, listing = server.get("/jars", within_s), f"{server.url}/jars"
    with expecting(listing):
        ids = {str(each["id"]) for each in listed["files"]}
    if jar not in ids:
        raise UsageError(f"--jar: {jar!r} is neither a file nor the id of a jar in {listing}")
    return jar


def _refuse(job: Job, faults: list[str]) -> None:
    if faults:
        raise ProblemError(f"job {job.id} cannot be restarted: {'; '.join(faults)}")
