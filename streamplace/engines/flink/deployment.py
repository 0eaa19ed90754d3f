"""Documents of the Flink Kubernetes operator: the numbers of instances of a placement.

The operator starts and restarts its jobs by itself, so that a change belongs into its document, a
``FlinkDeployment`` or a ``FlinkSessionJob`` of its version ``v1beta1``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from streamplace.engines.flink.applying.preflight import vertex_counts
from streamplace.engines.flink.client import Client
from streamplace.engines.flink.cluster import version_numbers
from streamplace.engines.flink.documents import JobState
from streamplace.engines.flink.manifest import API, DEPLOYMENT, SESSION_JOB, SLOTS, read_manifest
from streamplace.engines.flink.operated import (
    OF_OPERATOR,
    OVERRIDES,
    STANDALONE_MODE,
    Operated,
)
from streamplace.engines.flink.plan import RunningPlan, read_running
from streamplace.engines.kubernetes.deployments import HOST
from streamplace.errors import ProblemError, located
from streamplace.files.reading import name_of, read_text
from streamplace.formats.instances import ascii_names
from streamplace.formats.labels import dns_label, label_value
from streamplace.formats.yaml import to_yaml
from streamplace.problem.device import Device
from streamplace.problem.instances import devices_of_instances
from streamplace.problem.placement import Placement

MODES = STANDALONE_MODE, "execution.target"  # standalone, native
HEAD = """\
# Written by streamplace: numbers of instances for a job of the Flink Kubernetes operator. Ids are
# those of the vertices of the running job, which follow from the uids of its operators.
"""
UNKNOWN = Operated(None, False, {}, is_adaptive=False, is_standalone=False)
"""A job of which nothing is known."""


@dataclass(frozen=True)
class Owner:
    """The document of the operator that a job belongs to; empty names are unknown."""

    kind: str
    name: str
    namespace: str = ""

    def __str__(self) -> str:
        """Return kind and name, as kubectl takes them."""
        return f"{self.kind.lower()} {self.name}"

    @property
    def command(self) -> str:
        """The command that takes a document from FILE."""
        where = f" --namespace {self.namespace}" if self.namespace else ""
        return f"kubectl patch {self}{where} --type merge --patch-file FILE"


def owner_of(config: Mapping[str, str], job_name: str) -> Owner | None:
    """Return the owner of a job; None if the operator has not deployed its cluster.

    Parameters
    ----------
    config
        The configuration of the JobManager, as ``/jobmanager/config`` says it.
    job_name
        Its name. On a session cluster, it is that of its document unless the jar sets another.
    """
    if OF_OPERATOR not in config:
        return None
    namespace = config.get("kubernetes.namespace", "")
    if any(config.get(key, "").lower().endswith("session") for key in MODES):
        return Owner(SESSION_JOB, job_name, namespace)
    return Owner(DEPLOYMENT, config.get("kubernetes.cluster-id", ""), namespace)


@dataclass(frozen=True)
class Change:
    """The document that changes a job.

    Parameters
    ----------
    most
        The largest number of instances of an operator.
    lost, assumed
        What it loses of the placement, and what it assumes, a sentence each.
    """

    document: dict[str, Any]
    most: int
    lost: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()

    def text(self, command: str = "") -> str:
        """Return the document as YAML, after comments with the notes and the command for it."""
        notes = [f"# Lost: {each}\n" for each in self.lost]
        notes += [f"# Assumed: {each}\n" for each in self.assumed]
        last = f"# {command}\n" if command else ""
        return "".join(notes) + HEAD + last + to_yaml([self.document])


def with_counts(
    owner: Owner, parallelism: Mapping[str, int], plan: RunningPlan, operated: Operated
) -> Change:
    """Return the document that changes numbers of instances; it has nothing else.

    Parameters
    ----------
    parallelism
        Operator -> number of its instances.
    plan
        The plan of the running job, with the ids of its vertices.
    operated
        What is known about the job. Where a start does not read numbers of vertices, and all are
        equal, the document states them as the parallelism of the job.

    Raises
    ------
    ProblemError
        If the job lacks an operator, or chains operators of different numbers, or if the document
        would have no effect.
    """
    now = {vertex.id: vertex.parallelism for vertex in plan.vertices}
    ids = {name: vertex.id for name, vertex in plan.vertex_of.items()}
    found, faults = vertex_counts(parallelism, ids)
    if faults:
        raise ProblemError("; ".join(faults))
    counts = now | found
    most = max(counts.values())
    overrides = ",".join(f"{vertex}:{count}" for vertex, count in counts.items())
    metadata = {"name": owner.name} | ({"namespace": owner.namespace} if owner.namespace else {})
    spec: dict[str, Any] = {"flinkConfiguration": {OVERRIDES: overrides}}
    document = {"apiVersion": API, "kind": owner.kind, "metadata": metadata, "spec": spec}
    if operated.version is None and operated.is_kept:
        return Change(document, most, assumed=(OF_VERSIONS,))
    if operated.is_kept:
        return Change(document, most)
    if not (obstacles := [*operated.obstacles()]):
        return Change(document, most, lost=(f"{operated.why_ignored}: {ONLY_IN_PLACE}",))
    if operated.is_reactive or len(set(counts.values())) > 1:
        raise ProblemError(
            f"{operated.why_ignored}, and the operator would restart the job for this document. "
            f"For numbers that change while the job runs, {'; '.join(obstacles)}"
        )
    spec["job"] = {"parallelism": most}
    return Change(document, most, assumed=(f"{operated.why_ignored}: {EQUAL_NUMBERS}",))


OF_VERSIONS = (
    "Flink 1.17 to 1.20 (a session cluster: from 1.19); Flink 2 ignores these numbers at a start "
    "(FLINK-38770), so there the job must run under jobmanager.scheduler: adaptive in mode native, "
    "and loses them at its next start"
)
ONLY_IN_PLACE = (
    "the operator changes the numbers only while the job runs under jobmanager.scheduler: "
    "adaptive, and they are lost at its next start"
)
EQUAL_NUMBERS = (
    "all numbers are equal, so job.parallelism has them; neither the job's code nor "
    "taskManager.replicas sets another parallelism, which would win"
)


def handed_out(
    owner: Owner, parallelism: Mapping[str, int], job: JobState, client: Client
) -> Change:
    """Return the document of `with_counts` for a running job."""
    config = client.config()
    operated = Operated(
        version_numbers(client.version()) or None,
        owner.kind == SESSION_JOB,
        config,
        is_adaptive=job.is_adaptive,
        is_standalone=STANDALONE_MODE in config,
    )
    return with_counts(owner, parallelism, job.plan, operated)


def parallelism_of(placement: Placement) -> dict[str, int]:
    """Return operator -> number of its instances.

    Raises
    ------
    ProblemError
        If the graph says nothing about numbers of instances.
    """
    if not placement.problem.graph.instance_of:
        raise ProblemError(
            "the graph states no numbers of instances; profile or import the job with its "
            "instances (without --fold)"
        )
    return {name: len(on) for name, on in devices_of_instances(placement).items()}


def write(
    placement: Placement,
    owner: Owner,
    plan: RunningPlan,
    label: str | None = None,
    operated: Operated = UNKNOWN,
) -> Change:
    """Return the document of a placement.

    Parameters
    ----------
    label
        Label of Kubernetes nodes whose values are the names of devices. There is then one
        TaskManager on each node in use, with the cores and the memory of its device, and with as
        many slots as the job needs. None: the document has numbers of instances only, so that the
        operator can change them while the job runs.

    Raises
    ------
    ProblemError
        As `with_counts` and `parallelism_of` do.
    """
    counts = parallelism_of(placement)
    change = with_counts(owner, counts, plan, replace(operated, restarts=label is not None))
    if label is not None:
        spec = change.document["spec"]
        slots = ceil(max(counts.values()) / len(placement.pes))
        spec["flinkConfiguration"][SLOTS] = f"{slots}"
        spec["taskManager"] = {
            "resource": _resource(placement),
            "podTemplate": {"spec": {"affinity": _affinity(placement, label, owner.name)}},
        }
    lost = (*losses(placement, label), *change.lost)
    return Change(change.document, change.most, lost, (*assumptions(label), *change.assumed))


def losses(placement: Placement, label: str | None) -> list[str]:
    """Return what the document of a placement loses."""
    used = _used(placement)
    found = ["Flink chooses the TaskManager of each instance"]
    if label is not None and len({(each.cores, each.memory_bytes) for each in used}) > 1:
        found.append(
            "TaskManagers of one job are alike, so each gets the cores and memory of the smallest "
            f"of {ascii_names([each.name for each in used])}"
        )
    return found


def assumptions(label: str | None) -> list[str]:
    """Return what the document of a placement assumes."""
    if label is None:
        return []
    return [
        f"nodes have the label {label} with the name of their device, and can allocate its cores "
        "and memory; pods stay pending otherwise"
    ]


def _used(placement: Placement) -> list[Device]:
    return [placement.problem.cluster.devices[d] for d in np.unique(placement.devices)]


def _resource(placement: Placement) -> dict[str, Any]:
    """Return the resources of a TaskManager, those of the smallest device in use."""
    used = _used(placement)
    memory = [each.memory_bytes for each in used if each.memory_bytes is not None]
    own = {"memory": f"{int(min(memory)) // 2**20}m"} if memory else {}
    return {"cpu": float(min(each.cores for each in used))} | own


def _affinity(placement: Placement, label: str, name: str) -> dict[str, Any]:
    """Return rules for pods: on nodes of the devices in use, one of them each."""
    devices = [label_value(device) for device in placement.pes]
    nodes = [{"matchExpressions": [{"key": label, "operator": "In", "values": devices}]}]
    own = {"matchLabels": {"app": name, "component": "taskmanager"}}
    when = "requiredDuringSchedulingIgnoredDuringExecution"
    return {
        "nodeAffinity": {when: {"nodeSelectorTerms": nodes}},
        "podAntiAffinity": {when: [{"labelSelector": own, "topologyKey": HOST}]},
    }


def document_of(
    placement: Placement, plan: str | Path, patch: str | Path | None, label: str | None
) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return the text of a placement's document, what it loses and what it assumes.

    Parameters
    ----------
    plan
        File of the plan of the running job.
    patch
        File with the document to change, alone or among others; None: what changes alone.
    label
        Label of the nodes, as for `write`.

    Raises
    ------
    FormatError
        If a file is not valid.
    ProblemError
        If the document cannot express the placement, or would have no effect.
    """
    running = read_running(read_text(plan), name_of(plan))
    graph = placement.problem.graph
    names = [name for name in (running.logical.graph.name, placement.job, graph.name) if name]
    if patch is None:
        owner = Owner(DEPLOYMENT, dns_label(placement.job or graph.name or "job"))
        change = write(placement, owner, running, label)
        return change.text(owner.command), change.lost, change.assumed
    manifest = read_manifest(read_text(patch), name_of(patch), names)
    owner = Owner(manifest.kind, manifest.name, manifest.namespace)
    with located(name_of(patch)):
        change = write(placement, owner, running, label, manifest.operated())
        pods = None if label is None else len(placement.pes)
        document, notes = manifest.patched(change.document, change.most, pods)
    lost = (*change.lost, *manifest.lost)
    whole = Change(document, change.most, lost, (*change.assumed, *notes))
    return manifest.replaced(whole.text()), whole.lost, whole.assumed
