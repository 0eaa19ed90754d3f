"""Files of the Flink Kubernetes operator: the document of a job among others, and its options."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from typing import Any

from streamplace.engines.flink.operated import Operated, adaptive_in, version_named
from streamplace.errors import FormatError, ProblemError
from streamplace.formats.labels import dns_label
from streamplace.formats.yaml import yaml_documents
from streamplace.problem.graph_checks import listed

API, DEPLOYMENT, SESSION_JOB = "flink.apache.org/v1beta1", "FlinkDeployment", "FlinkSessionJob"
SLOTS = "taskmanager.numberOfTaskSlots"
MOST_SLOTS = "slotmanager.number-of-slots.max"
MAX_PARALLELISM = "pipeline.max-parallelism"
AUTOSCALER = "job.autoscaler."
OLD_PREFIX = "kubernetes.operator."  # of the autoscaler's options, which its newer names replace


@dataclass(frozen=True)
class Manifest:
    """A file with the document of a job.

    Parameters
    ----------
    text, where
        The file and its name.
    span
        Where the document is in it.
    document
        The document as a value.
    cluster
        The document of the cluster that the job runs on: its own, or that of a session cluster;
        empty if the file has none.
    """

    text: str
    where: str
    span: tuple[int, int]
    document: Mapping[str, Any]
    cluster: Mapping[str, Any]

    @property
    def kind(self) -> str:
        """``FlinkDeployment`` or ``FlinkSessionJob``."""
        return str(self.document["kind"])

    @property
    def name(self) -> str:
        """The name of the document."""
        return str(self.document["metadata"]["name"])

    @property
    def namespace(self) -> str:
        """Its namespace; empty if it states none."""
        return str(self.document["metadata"].get("namespace") or "")

    @property
    def lost(self) -> tuple[str, ...]:
        """What the numbers lose by other lines, and what a new text of the document loses."""
        own = self.text[slice(*self.span)]
        return (*self._autoscaling(), *((f"comments of {self.where}",) if "#" in own else ()))

    @cached_property
    def config(self) -> dict[str, str]:
        """The options of Flink for the job, as text."""
        documents = (self.cluster, self.document)
        return {key: text for each in documents for key, text in options_in(each).items()}

    def operated(self) -> Operated:
        """Return how the operator runs the job.

        Raises
        ------
        FormatError
            If the version is no name of a version.
        """
        version, text = None, self.cluster.get("spec", {}).get("flinkVersion")
        if text is not None and (version := version_named(str(text))) is None:
            fault = f"must be a version such as v1_20 (got {text!r:.40})"
            raise FormatError(f"{self.where}: spec.flinkVersion: {fault}")
        return Operated(
            version,
            self.kind == SESSION_JOB,
            self.config,
            is_adaptive=adaptive_in(options_in(self.cluster)),
            is_standalone=self.is_standalone,
        )

    @property
    def is_standalone(self) -> bool:
        """Whether the operator starts the TaskManagers, and not Flink."""
        return str(self.cluster.get("spec", {}).get("mode")).lower() == "standalone"

    def patched(
        self, change: Mapping[str, Any], most: int, pods: int | None = None
    ) -> tuple[dict[str, Any], list[str]]:
        """Return the document with a change, and what changes besides.

        Options of Flink may be nested, as in its ``config.yaml``; those that change are not.

        Parameters
        ----------
        most
            The largest number of instances of an operator.
        pods
            The number of TaskManagers, if the change states their nodes.

        Raises
        ------
        ProblemError
            If other lines do not allow these numbers.
        """
        found = merge_patch(self.document, change)
        config = found["spec"]["flinkConfiguration"]
        for key in change["spec"]["flinkConfiguration"]:
            _without_nested(config, key.split("."))
        changed = replace(self, document=found, cluster=found if self._is_own else self.cluster)
        notes: list[str] = []
        faults = [*changed.options_below(most)]
        if "job" in change["spec"] and self._replicas is not None:
            faults.append(
                "spec.taskManager.replicas takes precedence over job.parallelism; leave it out"
            )
        elif (needed := changed.other_replicas(most, pods)) is not None and self._is_own:
            notes.append(
                f"spec.taskManager.replicas is {needed} instead of {self._replicas}, for the "
                f"{most} slots that the numbers need"
            )
            found["spec"]["taskManager"]["replicas"] = needed
        elif needed is not None:
            faults.append(
                f"{most} slots are needed, which take {needed} TaskManagers, and "
                f"spec.taskManager.replicas of {self.cluster['metadata']['name']!r} is "
                f"{self._replicas}"
            )
        if faults:
            raise ProblemError("; ".join([*faults, *self._autoscaling()]))
        return found, notes

    def replaced(self, text: str) -> str:
        """Return the file with another text of the document; all others stay as they are."""
        before, after = self.text[: self.span[0]], self.text[self.span[1] :]
        return before + ("\n" if before and not before.endswith("\n") else "") + text + after

    @property
    def _is_own(self) -> bool:
        return self.cluster is self.document

    @property
    def _replicas(self) -> int | None:
        """The number of TaskManagers that the cluster's document states."""
        manager = self.cluster.get("spec", {}).get("taskManager")
        value = manager.get("replicas") if isinstance(manager, dict) else None
        return None if value is None else self._whole(value, "spec.taskManager.replicas")

    def other_replicas(self, most: int, pods: int | None) -> int | None:
        """Return the number of TaskManagers to state instead; None if the present one fits.

        Parameters are those of `patched`.
        """
        if not self.is_standalone or self._replicas is None:
            return None
        slots = self._option(SLOTS) or 1
        needed = pods or max(ceil(most / max(slots, 1)), self._replicas)
        return None if needed == self._replicas else needed

    def options_below(self, most: int) -> Iterator[str]:
        """Yield options that do not allow a number of instances."""
        limits = (MAX_PARALLELISM,) if self.is_standalone else (MAX_PARALLELISM, MOST_SLOTS)
        for key in limits:
            value = self._option(key)
            if value is not None and 0 < value < most:
                yield f"{key} is {value}, and an operator would have {most} instances"

    def _autoscaling(self) -> Iterator[str]:
        """Yield that the operator's autoscaler replaces numbers."""
        for key in (f"{AUTOSCALER}enabled", f"{OLD_PREFIX}{AUTOSCALER}enabled"):
            if (value := self.config.get(key)) is not None:
                if value.strip().lower() == "true":
                    yield (
                        f"{key} is true: the operator's autoscaler writes the same option and "
                        "replaces these numbers; set it to false to keep them"
                    )
                return

    def _option(self, key: str) -> int | None:
        text = self.config.get(key)
        return None if text is None else self._whole(text, key)

    def _whole(self, value: object, place: str) -> int:
        text = str(value).strip()
        if not text.removeprefix("-").isdecimal() or len(text) > MAX_DIGITS:
            raise FormatError(f"{self.where}: {place}: must be a whole number (got {text!r:.40})")
        return int(text)


MAX_DIGITS = 10  # of Flink's integers


def read_manifest(text: str, where: str, jobs: Sequence[str] = ()) -> Manifest:
    """Return the FlinkDeployment or FlinkSessionJob of a job in a YAML file.

    Parameters
    ----------
    jobs
        Names of the job: its document has one of them if the file has those of several jobs.

    Raises
    ------
    FormatError
        If there is none, or several without such a name.
    """
    documents = yaml_documents(text, where)
    if not documents:
        raise FormatError(f"{where}: is empty")
    kinds = (DEPLOYMENT, SESSION_JOB)
    ours = [each for each in documents if each.text_at("kind") in kinds]
    if not ours:
        raise FormatError(f"{where}: kind: must be {' or '.join(kinds)}")
    of_jobs = [e for e in ours if e.text_at("kind") == SESSION_JOB or e.has("spec", "job")]
    known = [each for each in of_jobs if len(ours) > 1] or ours
    place = known[_index_of_job([str(e.text_at("metadata", "name")) for e in known], where, jobs)]
    document, span = _value_of(place.value(), where), (place.start, place.end)
    if document["kind"] == DEPLOYMENT:
        if not isinstance(document["spec"].get("job"), dict):
            raise FormatError(
                f"{where}: spec.job: is missing, so this is a session cluster; patch the "
                f"{SESSION_JOB} of the job"
            )
        return Manifest(text, where, span, document, document)
    name, space = document["spec"].get("deploymentName"), place.text_at("metadata", "namespace")
    for each in ours:
        both = {space, each.text_at("metadata", "namespace")} - {None}
        is_named = each.text_at("metadata", "name") == name and len(both) <= 1
        if is_named and each.text_at("kind") == DEPLOYMENT:
            return Manifest(text, where, span, document, _value_of(each.value(), where))
    return Manifest(text, where, span, document, {})


def _index_of_job(names: Sequence[str], where: str, jobs: Sequence[str]) -> int:
    """Return which document is that of a job: the only one, or the only one with its name."""
    wanted = {dns_label(name) for name in jobs}
    found = [i for i, name in enumerate(names) if name in wanted or len(names) == 1]
    if len(found) == 1:
        return found[0]
    raise FormatError(
        f"{where}: has documents of {len(names)} jobs ({listed(names)}), and {len(found)} of them "
        f"have the name of this job ({listed(sorted(wanted))}); leave only its own in the file"
    )


def _value_of(value: Any, where: str) -> dict[str, Any]:
    """Return the value of a document that has what is read of it."""
    for key in ("metadata", "spec"):
        if not isinstance(value.get(key), dict):
            raise FormatError(f"{where}: {key}: must be an object")
    if not isinstance(value["metadata"].get("name"), str):
        raise FormatError(f"{where}: metadata.name: must be text")
    for key in ("flinkConfiguration", "taskManager"):
        if value["spec"].get(key) is not None and not isinstance(value["spec"][key], dict):
            raise FormatError(f"{where}: spec.{key}: must be an object")
    return dict(value)


def options_in(document: Mapping[str, Any]) -> dict[str, str]:
    """Return the options of Flink in a document as text, with nested ones as the operator reads."""
    return dict(_flat(document.get("spec", {}).get("flinkConfiguration"), ""))


def _flat(value: Any, key: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, below in value.items():
            yield from _flat(below, f"{key}.{name}" if key else str(name))
    elif isinstance(value, bool):
        yield key, str(value).lower()
    elif isinstance(value, list):
        yield key, ";".join(map(str, value))
    elif value is not None:
        yield key, str(value)


def merge_patch(base: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document with a change, as kubectl merges it (RFC 7386)."""
    found = dict(base)
    for key, value in change.items():
        own = found.get(key)
        both = isinstance(value, Mapping) and isinstance(own, Mapping)
        found[key] = merge_patch(own, value) if both else value  # type: ignore[arg-type]
    return found


def _without_nested(config: dict[str, Any], path: Sequence[str]) -> None:
    """Remove an option that is written with several keys, one below the other."""
    for number in range(1, len(path)):
        head, rest = ".".join(path[:number]), path[number:]
        if isinstance(below := config.get(head), dict):
            below.pop(".".join(rest), None)
            _without_nested(below, rest)
