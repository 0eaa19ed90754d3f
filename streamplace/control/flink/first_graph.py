"""The graph of a running job, measured before a controller begins."""

from dataclasses import replace

import numpy as np

from streamplace.display.text import several
from streamplace.errors import BackendError
from streamplace.integrations.flink.fit import chain_notes, fit
from streamplace.integrations.flink.poll import Watch
from streamplace.integrations.profiling.rest import Server
from streamplace.problem.cluster import Cluster
from streamplace.problem.counts import with_counts
from streamplace.problem.graph import StreamGraph

SHOWN = 5


def first_graph(
    server: Server, job: str, cluster: Cluster, seconds: float, answer_s: float, seed: int = 0
) -> tuple[StreamGraph, list[str]]:
    """Return the operators and streams of a job, with numbers of instances, and notes.

    Costs are converted at the speed of the first device; they are measured anew in every window, so
    only their ratios matter. Bytes that Flink's counters do not determine are taken as 0.

    Parameters
    ----------
    seconds
        Time for which the job is measured.
    answer_s
        Time limit of an answer of the server in seconds.
    seed
        Seed of the times between readings.

    Raises
    ------
    BackendError
        If the server does not answer, or the job cannot be measured.
    UsageError
        If the server has no such job.
    """
    watched = Watch(server, job, answer_s, seed=seed).run(seconds)
    if watched.interrupted:
        raise KeyboardInterrupt
    if watched.fault:
        raise BackendError(watched.fault)
    found = fit(watched.plan, watched.readings, cluster.devices[0].mips)
    graph, notes = with_counts(replace(found.logical, max_parallelism=watched.logical_limits))
    return _without_unknown_bytes(graph, [*chain_notes(found), *notes])


def _without_unknown_bytes(graph: StreamGraph, notes: list[str]) -> tuple[StreamGraph, list[str]]:
    payload, of_streams = graph.payload_bytes, graph.stream_payload_bytes
    unknown = {int(graph.stream_source[e]) for e in np.flatnonzero(np.isnan(of_streams))}
    names = [graph.names[v] for v in sorted(unknown)]
    known = graph.with_numbers(
        payload_bytes=np.nan_to_num(payload), stream_payload_bytes=np.nan_to_num(of_streams)
    )[0]
    if not names:
        return known, notes
    text = f"Flink's counters do not tell the bytes of {several(names, SHOWN)}; taken as 0"
    return known, [*notes, text]
