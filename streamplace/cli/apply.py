"""The command `apply`: placements applied to running jobs."""

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from streamplace.cli import options, param_types, printing
from streamplace.cli.command import argument, command, option
from streamplace.errors import BackendError, located
from streamplace.files import read_placement
from streamplace.files.reading import name_of
from streamplace.integrations.flink.applying.asking import Limits
from streamplace.integrations.flink.applying.requests import Program
from streamplace.integrations.flink.applying.restart import Restart
from streamplace.integrations.flink.client import Client
from streamplace.integrations.profiling.rest import Server
from streamplace.workflows.apply import (
    Options,
    Prepared,
    already_placed,
    check_jar,
    delete,
    prepare,
    restart_of,
    upload,
)


@click.group()
def apply() -> None:
    """Restart a running job so that it runs as placed.

    \b
    Example:
    streamplace apply flink placement.json --url http://localhost:8081 --job 0a1b… --jar job.jar
    """


@dataclass(frozen=True)
class FlinkOptions(options.Common):
    """The options of `flink`."""

    placement: str = argument(type=param_types.FILE)
    url: str = option("--url", required=True, metavar="URL", help="Address of Flink's REST API.")
    job: str = options.identifier("--job", "Id of the job.", required=True)
    program: options.FlinkProgram = options.program(required=True)
    savepoint: str | None = option(
        "--savepoint",
        metavar="URL",
        help="Savepoint or retained checkpoint to start from if the job has ended.  [default: the "
        "savepoint that stopped the job]",
    )
    labels: bool = option(
        "--labels", is_flag=True, help="Ask for labels even if all devices are equal."
    )
    deadline: float = options.seconds("--deadline", 60, "Seconds for the savepoint.")
    start_timeout: float = options.seconds(
        "--start-timeout", 120, "Seconds for a start until all vertices run."
    )
    timeout: float = options.seconds(
        "--timeout", 10, "Seconds to wait for each answer of the server."
    )
    dry_run: bool = option("--dry-run", is_flag=True, help="Print the requests and change nothing.")


@command(FlinkOptions, of=apply.command)
def flink(chosen: FlinkOptions) -> None:
    """Restart a Flink job with a placement.

    First everything is checked while the job runs: uids, checkpoints, maximum parallelism, labels,
    slots, and whether the jar takes the mapping. Then the job is stopped with a savepoint and
    started from it with the mapping, and Flink is asked what runs where. If the job does not start,
    or does not run as placed, it is started once more with its former mapping. Savepoints are never
    deleted. After an interruption, the same command goes on where it was.

    \b
    Examples:
    streamplace apply flink placement.json --url http://localhost:8081 --job 0a1b… --jar job.jar
    streamplace apply flink p.json --url http://localhost:8081 --job 0a1b… --jar job.jar --dry-run
    """
    read = read_placement(chosen.placement)
    client = Client(Server(chosen.url), chosen.timeout)
    how = Options(
        chosen.job,
        str(chosen.program.jar),
        Program(chosen.program.entry_class, chosen.program.arguments),
        chosen.program.savepoint_dir,
        chosen.savepoint,
        True if chosen.labels else None,
        chosen.program.without_uids,
        Limits(chosen.timeout, chosen.deadline, chosen.start_timeout),
    )
    with located(name_of(chosen.placement)):
        prepared = prepare(read, client, how)
    if (hosts := already_placed(prepared, client)) is not None:
        _leave(prepared.job.id, hosts, chosen.as_json)
    elif chosen.dry_run:
        _show(prepared, how, chosen.as_json)
    else:
        _execute(prepared, client, how, chosen.as_json)


def _leave(job: str, hosts: dict[str, list[str]], as_json: bool) -> None:
    """Say that nothing has to be done."""
    if as_json:
        printing.print_json(
            {
                "former_job": job,
                "job": job,
                "running": True,
                "savepoint": None,
                "rolled_back": False,
                "fault": None,
                "task_managers": hosts,
            }
        )
    else:
        click.echo(f"job {job} already runs as placed; nothing is changed")


def _show(prepared: Prepared, how: Options, as_json: bool) -> None:
    planned = prepared.requests(how)
    if as_json:
        printing.print_json({"requests": [request.to_dict() for request in planned]})
    else:
        for request in planned:
            click.echo(str(request))


def _execute(prepared: Prepared, client: Client, how: Options, as_json: bool) -> None:
    server = client.server
    jar = prepared.jar or upload(server, Path(how.jar), how.limits.start_s)
    try:
        check_jar(prepared, server, how, jar)
        restart = restart_of(prepared, client, how, jar, printing.print_note)
        _run(restart, prepared, as_json)
    finally:
        if prepared.jar is None:
            delete(server, jar, how.limits.answer_s)


def _run(restart: Restart, prepared: Prepared, as_json: bool) -> None:
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
        printing.print_json(_facts(restart, str(fault) if fault else None))
    elif fault is None:
        _print(restart)
    if fault is not None:
        raise fault


def _advise(restart: Restart) -> None:
    """Print what runs, where the state is, and the command that goes on."""
    command = shlex.join(["streamplace", *sys.argv[1:]])
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


def _print(restart: Restart) -> None:
    now = restart.progress
    click.echo(f"job {now.job} runs as placed, from {now.savepoint}")
    for operator, hosts in now.hosts.items():
        click.echo(f"{operator}: {', '.join(hosts)}")
