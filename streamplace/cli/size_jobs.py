"""The work of `size --job-file`: numbers of instances of several jobs on one cluster."""

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

from streamplace.cli import from_options
from streamplace.cli.output_files import check_targets, refuse_folder
from streamplace.errors import ClusterError, located
from streamplace.execution.progress import working
from streamplace.files.folder_lock import held
from streamplace.files.jobs import folder_of, graph_files, jobs_from
from streamplace.files.reading import name_of, read_json
from streamplace.workflows.sizing.jobs import JobsSize, file_names, size_jobs

JSON = ".json"


def size_job_file(
    file: str,
    cluster_file: str | None,
    devices: str | None,
    outputs: tuple[str | None, str | None],
    settings: Mapping[str, Any],
) -> JobsSize:
    """Size the jobs of a job file, and write what `-o` names.

    Parameters
    ----------
    outputs
        What `-o` and `--graph-out` name.
    settings
        The options of `size_jobs`.
    """
    output, graph_out = outputs
    into_folder = output is not None and output != "-" and not output.endswith(JSON)
    where, beside = name_of(file), folder_of(file)
    with working("reading"):
        value = read_json(file)
        graphs = [str(path) for path in graph_files(value, where, beside)]
    inputs = (file, cluster_file, *graphs)
    check_targets({"-o": None if into_folder else output, "--graph-out": graph_out}, inputs)
    with working("reading"):
        cluster = from_options.the_cluster(cluster_file, devices)
        jobs = jobs_from(value, where, beside)
    if into_folder:
        refuse_folder("-o", str(output), file_names(jobs.names), inputs)
    with held(str(output)) if into_folder else nullcontext():  # before anything runs
        of_cluster = located(cluster_file or where, only=ClusterError)
        with working("sizing"), located(where), of_cluster:
            found = size_jobs(jobs, cluster, **settings)
        if into_folder:
            found.save_folder(str(output))
        elif output is not None:
            found.save(output)
    return found
