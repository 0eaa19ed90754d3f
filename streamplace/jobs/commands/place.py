"""The work of `place --job-file`: several jobs on one cluster."""

from contextlib import nullcontext
from dataclasses import replace

import click
from click.core import ParameterSource

from streamplace.cli import inputs
from streamplace.cli.command import print_json
from streamplace.cli.inputs import naming_the_default
from streamplace.cli.output_files import check_targets, refuse_folder, weights_of
from streamplace.cli.place_problem import ProblemOptions
from streamplace.cli.terminal import print_result
from streamplace.errors import located
from streamplace.execution.progress import working
from streamplace.files.reading import folder_of, name_of, read_json
from streamplace.files.writing import held
from streamplace.jobs.commands.notes import print_jobs_notes
from streamplace.jobs.files import graph_files, jobs_from
from streamplace.jobs.jobs import Jobs
from streamplace.jobs.place import place_jobs, runs_of
from streamplace.jobs.result import file_names
from streamplace.placers.limits import MaxRuntime
from streamplace.placers.registry import ready
from streamplace.problem.cluster import Cluster
from streamplace.problem.instances import colocate_instances
from streamplace.problem.losses import Losses

ACCEPTED = (
    "job_file",
    "cluster_file",
    "constraints_file",
    "devices",
    "without",
    "slow",
    "model",
    "target_utilisation",
    "placer",
    "time_limit",
    "whole_operators",
    "output",
    "as_json",
    "seed",
    "quiet",
)
"""The parameters of `place` that make sense for several jobs."""
JSON = ".json"


def check_options(context: click.Context) -> None:
    """Refuse what does not go with --job-file.

    Raises
    ------
    click.UsageError
        If the command line sets such an option, the argument GRAPH, or another model than
        ``bottleneck``.
    """
    for parameter in context.command.params:
        name = str(parameter.name)
        source = context.get_parameter_source(name)
        if name not in ACCEPTED and source == ParameterSource.COMMANDLINE:
            shown = "GRAPH" if isinstance(parameter, click.Argument) else parameter.opts[0]
            raise click.UsageError(f"cannot combine --job-file with {shown}")
    if context.params["model"] not in (None, "bottleneck"):
        raise click.UsageError("--job-file: several jobs require --model bottleneck")


def place_job_file(
    file: str,
    problem: ProblemOptions,
    *,
    placer: str,
    time_limit: float | None,
    whole_operators: bool,
    output: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """Place the jobs of --job-file, write and print the result; see `place`."""
    check_options(click.get_current_context())
    cluster_file, lost = problem.cluster.cluster_file, inputs.the_losses(problem.lost)
    value, where, folder = read_json(file), name_of(file), folder_of(file)
    graphs = [str(path) for path in graph_files(value, where, folder)]
    read_files = (file, cluster_file, problem.constraints_file, *graphs, *weights_of(placer))
    into_folder = output is not None and output != "-" and not output.endswith(JSON)
    if not into_folder:
        check_targets({"-o": output}, read_files)
    with working("reading"):
        cluster = inputs.the_cluster(problem.cluster)
        by_default = cluster is None
        whole = Cluster.of(cluster)
        jobs = inputs.constrained(jobs_from(value, where, folder), problem.constraints_file)
        jobs = _changed(jobs, where, whole, lost, whole_operators)
        left = lost.cluster(whole) if lost else whole
    chosen = ready(placer)
    if time_limit is not None:
        chosen = chosen.limited(MaxRuntime(time_limit / runs_of(jobs)))
    if into_folder:
        refuse_folder("-o", str(output), file_names(jobs.names), read_files)
    with held(str(output)) if into_folder else nullcontext():  # before anything runs
        with working("placing"), located(where), naming_the_default(by_default):
            result = place_jobs(
                jobs,
                left,
                placer=chosen,
                seed=seed,
                target_utilisation=problem.throughput.target_utilisation,
            )
        if into_folder:
            result.save(str(output))
        elif output is not None:
            result.save_json(output)
    inputs.print_assumed(problem.cluster)
    print_jobs_notes(result)
    if as_json:
        print_json(result.to_dict())
    else:
        print_result(result, to_stderr=output == "-")


def _changed(jobs: Jobs, where: str, whole: Cluster, lost: Losses, whole_operators: bool) -> Jobs:
    """Return the jobs with the constraints that lost devices and whole operators leave."""
    of_devices, changed = lost.of_devices(whole), []
    for job in jobs:
        rules = job.graph.constraints if job.constraints is None else job.constraints
        with located(f"{where}: job {job.name!r}"):
            rules = of_devices.constraints(rules) if lost else rules
        rules = colocate_instances(job.graph, rules) if whole_operators else rules
        changed.append(replace(job, constraints=rules))
    return Jobs(changed)
