"""The command `apply flink`: placements applied to running jobs."""

import shlex
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from streamplace.cli import options, param_types
from streamplace.cli.command import argument, command, leaving, option, print_json, print_note
from streamplace.control.plans import Deployment
from streamplace.engines.flink.applying.apply import (
    Options,
    Prepared,
    already_placed,
    check_jar,
    check_jar_file,
    delete,
    prepare,
    restart_of,
    upload,
)
from streamplace.engines.flink.applying.asking import Limits
from streamplace.engines.flink.applying.preflight import faults_of_most
from streamplace.engines.flink.applying.requests import Program, Request
from streamplace.engines.flink.applying.restart import Restart
from streamplace.engines.flink.client import Client
from streamplace.engines.flink.deployment import (
    Owner,
    handed_out,
    owner_of,
    parallelism_of,
)
from streamplace.engines.flink.documents import JobState
from streamplace.engines.flink.watching.rescaling import AdaptiveRealiser
from streamplace.errors import BackendError, ProblemError, located
from streamplace.files import read_placement
from streamplace.files.reading import name_of
from streamplace.formats.profiling.rest import RefusedError, Server
from streamplace.problem.instances import devices_of_instances
from streamplace.problem.placement import Placement

PASSED = (
    "all checks passed but those of the jar's own plan, for which the jar must be on the server; "
    "nothing was sent"
)


@dataclass(frozen=True)
class FlinkOptions(options.Common):
    """The options of `flink`."""

    placement: str = argument(type=param_types.FILE)
    url: str = option("--url", required=True, metavar="URL", help="Address of Flink's REST API.")
    job: str | None = options.flink_job()
    program: options.FlinkProgram = options.program(required=False)
    savepoint: str | None = option(
        "--savepoint",
        metavar="URL",
        help="Savepoint or retained checkpoint to start from if the job has ended.  [default: the "
        "savepoint that stopped the job]",
    )
    labels: bool = option(
        "--labels", is_flag=True, help="Ask for labels even if all devices are equal."
    )
    numbers_only: bool = option(
        "--numbers-only",
        is_flag=True,
        help="Set numbers of instances only, and let Flink choose their slots. Under the adaptive "
        "scheduler, they change while the job runs, without --jar.",
    )
    deadline: float = options.seconds(
        "--deadline", 60, "Seconds for the savepoint.", param_types.limit
    )
    start_timeout: float = options.seconds(
        "--start-timeout", 120, "Seconds for a start until all vertices run.", param_types.limit
    )
    timeout: float = options.seconds(
        "--timeout", 10, "Seconds to wait for each answer of the server.", param_types.limit
    )
    dry_run: bool = option("--dry-run", is_flag=True, help="Print the requests and change nothing.")


@command(FlinkOptions)
def flink(chosen: FlinkOptions) -> None:
    """Run a Flink job as placed: restart it, or change it in place.

    First everything is checked while the job runs: uids, checkpoints, maximum parallelism, labels,
    slots, and whether the jar takes the mapping. Then the job is stopped with a savepoint and
    started from it with the mapping, and Flink is asked what runs where. If the job does not start,
    or does not run as placed, it is started once more with its former mapping. Savepoints are never
    deleted. After an interruption, the same command goes on where it was.

    With --numbers-only, a job under the adaptive scheduler goes on while its numbers of instances
    change. It needs no --jar.

    A job of the Flink Kubernetes operator is not restarted: stdout gets its document with the
    numbers of instances, for kubectl patch. It needs no --jar.

    \b
    Examples:
    streamplace apply flink placement.json --url http://localhost:8081 --job 0a1b… --jar job.jar
    streamplace apply flink p.json --url http://localhost:8081 --job 0a1b… --jar job.jar --dry-run
    """
    read = read_placement(chosen.placement)
    client = Client(Server(chosen.url), chosen.timeout)
    if chosen.labels and chosen.numbers_only:
        raise click.UsageError("cannot combine --labels with --numbers-only")
    if chosen.program.jar is not None:
        check_jar_file(chosen.program.jar)
    job_id = client.running_job(chosen.job)
    with located(name_of(chosen.placement)):
        job = _state(client, job_id)
    with _leave_on_signal(job), located(name_of(chosen.placement)):
        if (owner := owner_of(client.config(), job.name)) is not None:
            _hand_out(owner, read, job, client, chosen.as_json)
            return
        if chosen.numbers_only and job.is_adaptive:
            _rescale(read, client, job_id, chosen)
            return
    if chosen.program.jar is None:
        raise click.UsageError("missing --jar: the job is started again from it")
    how = Options(
        job_id,
        chosen.program.jar,
        Program(chosen.program.entry_class, chosen.program.arguments),
        chosen.program.savepoint_dir,
        chosen.savepoint,
        True if chosen.labels else None,
        chosen.numbers_only,
        chosen.program.without_uids,
        Limits(chosen.timeout, chosen.deadline, chosen.start_timeout),
    )
    with _leave_on_signal(job), located(name_of(chosen.placement)):
        prepared = prepare(read, client, how)
    if (hosts := already_placed(prepared, client)) is not None:
        _leave(prepared.job.id, hosts, chosen.as_json)
    elif chosen.dry_run:
        _show(prepared.requests(how), chosen.as_json)
        print_note(PASSED)
    else:
        _execute(prepared, client, how, chosen.as_json)


def _state(client: Client, job: str) -> JobState:
    try:
        return client.scheduled(client.state(job))
    except RefusedError as error:
        raise client.refusal(job, error) from None


def _leave_on_signal(job: JobState) -> AbstractContextManager[None]:
    """Return a block after which a signal leaves the job as it was."""
    return leaving(lambda: "" if job.ended else f"job {job.id} goes on")


def _hand_out(
    owner: Owner, placement: Placement, job: JobState, client: Client, as_json: bool
) -> None:
    """Print the document of a job that the Flink Kubernetes operator owns.

    Raises
    ------
    ProblemError
        If the job lacks operators, or its state does not allow so many instances, or if the
        document would have no effect.
    """
    counts = parallelism_of(placement)
    if faults := list(faults_of_most(job, counts)):
        raise ProblemError("; ".join(faults))
    change = handed_out(owner, counts, job, client)
    print_note(
        f"job {job.id} belongs to {owner} of the Flink Kubernetes operator, which would undo a "
        f"restart; nothing is changed. Save this document, and: {owner.command}"
    )
    for note in (*change.lost, *change.assumed):
        print_note(note)
    if as_json:
        print_json({"former_job": job.id, "job": job.id, "document": change.document})
    else:
        click.echo(change.text(owner.command), nl=False)


def _rescale(placement: Placement, client: Client, job: str, chosen: FlinkOptions) -> None:
    """Change numbers of instances under the adaptive scheduler, which needs no restart."""
    limits = Limits(chosen.timeout, chosen.deadline, chosen.start_timeout)
    realiser = AdaptiveRealiser(client, limits)
    on = devices_of_instances(placement)
    deployment = Deployment({name: tuple(on[name]) for name in parallelism_of(placement)})
    planned = realiser.planned(job, deployment)
    if chosen.dry_run:
        _show([planned], chosen.as_json)
        print_note("all checks passed; nothing was sent")
        return
    done = realiser.act(job, deployment, lambda step, details: None)
    if not done.succeeded:
        raise BackendError(done.reason)
    hosts = client.hosts(client.state(job))
    if chosen.as_json:
        print_json(_facts_of_same_job(job, hosts))
    else:
        click.echo(f"job {job} runs with these numbers of instances")
        _print_hosts(hosts)


def _leave(job: str, hosts: dict[str, list[str]], as_json: bool) -> None:
    """Say that nothing has to be done."""
    if as_json:
        print_json(_facts_of_same_job(job, hosts))
    else:
        click.echo(f"job {job} already runs as placed; nothing is changed")


def _facts_of_same_job(job: str, hosts: dict[str, list[str]]) -> dict[str, Any]:
    """Return the facts of a job that was not stopped."""
    return {
        "former_job": job,
        "job": job,
        "running": True,
        "savepoint": None,
        "rolled_back": False,
        "fault": None,
        "task_managers": hosts,
    }


def _show(planned: Sequence[Request], as_json: bool) -> None:
    if as_json:
        print_json({"requests": [request.to_dict() for request in planned]})
    else:
        for request in planned:
            click.echo(str(request))


def _execute(prepared: Prepared, client: Client, how: Options, as_json: bool) -> None:
    server = client.server
    with _leave_on_signal(prepared.job):
        jar = prepared.jar or upload(server, Path(how.jar), how.limits.start_s)
    try:
        with _leave_on_signal(prepared.job):
            check_jar(prepared, server, how, jar)
        restart = restart_of(prepared, client, how, jar, print_note)
        _run(restart, prepared, how, as_json)
    finally:
        if prepared.jar is None:
            delete(server, jar, how.limits.answer_s)


def _run(restart: Restart, prepared: Prepared, how: Options, as_json: bool) -> None:
    """Restart the job; whatever ends it, say what runs and how to go on."""
    fault = None
    try:
        restart.run(prepared.groups, prepared.savepoint)
    except BackendError as error:
        fault = error
    except BaseException:  # Ctrl-C, SIGTERM, or a fault of ours
        _advise(restart)
        raise
    if fault is not None and not restart.progress.running:
        _advise(restart)
    if as_json:
        print_json(_facts(restart, str(fault) if fault else None))
    elif fault is None:
        _print(restart, "with these numbers of instances" if how.numbers_only else "as placed")
    if fault is not None:
        raise fault


def _advise(restart: Restart) -> None:
    """Print what runs, where the state is, and the command that goes on."""
    words = ["streamplace", *sys.argv[1:]]
    if not any(restart.former.id in word for word in words):
        words += ["--job", restart.former.id]  # by now, it may not be the only one that runs
    command = shlex.join(words)
    click.echo(f"{restart.what_runs()}; this command goes on: {command}", err=True)


def _facts(restart: Restart, fault: str | None) -> dict[str, Any]:
    now = restart.progress
    return {
        "former_job": restart.former.id,
        "job": now.job,
        "running": now.running,
        "savepoint": now.savepoint or None,
        "rolled_back": now.rolled_back,
        "fault": fault,
        "task_managers": now.hosts,
    }


def _print(restart: Restart, reached: str) -> None:
    now = restart.progress
    click.echo(f"job {now.job} runs {reached}, from {now.savepoint}")
    _print_hosts(now.hosts)


def _print_hosts(hosts_of: dict[str, list[str]]) -> None:
    for operator, hosts in hosts_of.items():
        click.echo(f"{operator}: {', '.join(hosts)}")
