"""Documents of the Flink Kubernetes operator: the numbers of instances of a placement.

The operator starts and restarts its jobs by itself, so that a change belongs into its document, a
``FlinkDeployment`` or a ``FlinkSessionJob`` of its version ``v1beta1``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from streamplace.engines.flink.applying.preflight import vertex_counts
from streamplace.engines.flink.documents import JobState
from streamplace.engines.flink.plan import RunningPlan, read_running
from streamplace.engines.kubernetes.deployments import HOST
from streamplace.errors import FormatError, ProblemError
from streamplace.files.reading import name_of, read_text
from streamplace.formats.instances import shown
from streamplace.formats.labels import dns_label, label_value
from streamplace.formats.yaml import parse_yaml, to_yaml
from streamplace.problem.device import Device
from streamplace.problem.instances import devices_of_instances
from streamplace.problem.placement import Placement

API, DEPLOYMENT, SESSION_JOB = "flink.apache.org/v1beta1", "FlinkDeployment", "FlinkSessionJob"
OVERRIDES = "pipeline.jobvertex-parallelism-overrides"
SLOTS = "taskmanager.numberOfTaskSlots"
OF_OPERATOR = "$internal.flink.version"  # set by FlinkConfigBuilder of the operator only
MODES = "kubernetes.internal.cluster-mode", "execution.target"  # standalone, native
HEAD = """\
# Written by streamplace: numbers of instances for a job of the Flink Kubernetes operator. Ids are
# those of the vertices of the running job, which follow from the uids of its operators.
"""


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


def with_counts(owner: Owner, parallelism: Mapping[str, int], plan: RunningPlan) -> dict[str, Any]:
    """Return the document that changes numbers of instances; it has nothing else.

    Parameters
    ----------
    parallelism
        Operator -> number of its instances.
    plan
        The plan of the running job, with the ids of its vertices.

    Raises
    ------
    ProblemError
        If the job lacks an operator, or chains operators of different numbers.
    """
    now = {vertex.id: vertex.parallelism for vertex in plan.vertices}
    ids = {name: vertex.id for name, vertex in plan.vertex_of.items()}
    found, faults = vertex_counts(parallelism, ids)
    if faults:
        raise ProblemError("; ".join(faults))
    overrides = ",".join(f"{vertex}:{count}" for vertex, count in (now | found).items())
    metadata = {"name": owner.name} | ({"namespace": owner.namespace} if owner.namespace else {})
    return {
        "apiVersion": API,
        "kind": owner.kind,
        "metadata": metadata,
        "spec": {"flinkConfiguration": {OVERRIDES: overrides}},
    }


def handed_out(owner: Owner, parallelism: Mapping[str, int], job: JobState) -> str:
    """Return the document of `with_counts` for a running job as YAML, with its command."""
    document = with_counts(owner, parallelism, job.plan)
    return f"{HEAD}# {owner.command}\n{to_yaml([document])}"


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


def write(placement: Placement, owner: Owner, plan: RunningPlan, label: str | None = None) -> Any:
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
    document = with_counts(owner, counts, plan)
    if label is not None:
        spec = document["spec"]
        slots = ceil(max(counts.values()) / len(placement.pes))
        spec["flinkConfiguration"][SLOTS] = f"{slots}"
        spec["taskManager"] = {
            "resource": _resource(placement),
            "podTemplate": {"spec": {"affinity": _affinity(placement, label, owner.name)}},
        }
    return document


def losses(placement: Placement, label: str | None) -> list[str]:
    """Return what the document of a placement loses."""
    used = _used(placement)
    found = ["Flink chooses the TaskManager of each instance; numbers are kept"]
    if label is not None and len({(each.cores, each.memory_bytes) for each in used}) > 1:
        found.append(
            "TaskManagers of one job are alike, so each gets the cores and memory of the smallest "
            f"of {shown([each.name for each in used])}"
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


def base_document(text: str, where: str) -> dict[str, Any]:
    """Return the FlinkDeployment or FlinkSessionJob in a YAML file.

    Raises
    ------
    FormatError
        If there is none.
    """
    value = parse_yaml(text, where)
    kinds = (DEPLOYMENT, SESSION_JOB)
    if not isinstance(value, dict) or value.get("kind") not in kinds:
        raise FormatError(f"{where}: kind: must be {' or '.join(kinds)}")
    for key in ("metadata", "spec"):
        if not isinstance(value.get(key), dict):
            raise FormatError(f"{where}: {key}: must be an object")
    if not isinstance(value["metadata"].get("name"), str):
        raise FormatError(f"{where}: metadata.name: must be text")
    config = value["spec"].get("flinkConfiguration")
    if config is not None and not isinstance(config, dict):
        raise FormatError(f"{where}: spec.flinkConfiguration: must be an object")
    return value


def patched(base: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document with a change, as kubectl merges it (RFC 7386).

    Options of Flink may be nested in `base`, as in its ``config.yaml``; those that change are not.
    """
    found = _merged(base, change)
    config = found["spec"]["flinkConfiguration"]
    for key in change["spec"]["flinkConfiguration"]:
        _without_nested(config, key.split("."))
    return found


def _merged(base: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(base)
    for key, value in change.items():
        own = found.get(key)
        both = isinstance(value, Mapping) and isinstance(own, Mapping)
        found[key] = _merged(own, value) if both else value  # type: ignore[arg-type]
    return found


def _without_nested(config: dict[str, Any], path: Sequence[str]) -> None:
    """Remove an option that is written with several keys, one below the other."""
    for number in range(1, len(path)):
        head, rest = ".".join(path[:number]), path[number:]
        if isinstance(below := config.get(head), dict):
            below.pop(".".join(rest), None)
            _without_nested(below, rest)


def document_of(
    placement: Placement, plan: str | Path, patch: str | Path | None, label: str | None
) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return the text of a placement's document, what it loses and what it assumes.

    Parameters
    ----------
    plan
        File of the plan of the running job.
    patch
        File of the document to change; None: what changes alone.
    label
        Label of the nodes, as for `write`.

    Raises
    ------
    FormatError
        If a file is not valid.
    ProblemError
        If the document cannot express the placement.
    """
    running, base = read_running(read_text(plan), name_of(plan)), None
    if patch is not None:
        base = base_document(read_text(patch), name_of(patch))
        metadata = base["metadata"]
        owner = Owner(base["kind"], metadata["name"], metadata.get("namespace", ""))
    else:
        owner = Owner(DEPLOYMENT, dns_label(placement.job or placement.problem.graph.name or "job"))
    document = write(placement, owner, running, label)
    lost, assumed = losses(placement, label), assumptions(label)
    notes = [f"# Lost: {each}\n" for each in lost] + [f"# Assumed: {each}\n" for each in assumed]
    head = "".join(notes) + HEAD
    if base is None or patch is None:
        head += f"# {owner.command}\n"
    else:
        document = patched(base, document)
        lost.append(f"comments of {name_of(patch)}")
    return head + to_yaml([document]), tuple(lost), tuple(assumed)
