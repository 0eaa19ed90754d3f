"""What becomes of numbers of instances that a document of the Flink Kubernetes operator states."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from streamplace.engines.flink.cluster import scheduler_in

OVERRIDES = "pipeline.jobvertex-parallelism-overrides"
OF_OPERATOR = "$internal.flink.version"  # set by FlinkConfigBuilder of the operator only
STANDALONE_MODE = "kubernetes.internal.cluster-mode"  # set by the operator in mode standalone only
IN_PLACE = "kubernetes.operator.job.upgrade.inplace-scaling.enabled"

FIRST_IN_PLACE = 1, 18
FIRST_AT_START = 1, 17
FIRST_AT_START_OF_SESSION_JOB = 1, 19  # before, the options of a submitted job are not read
FIRST_WITHOUT = 2, 0
"""Flink 2 converts a job after its submission; the option changes converted jobs (FLINK-38770)."""

_VERSION = re.compile(r"v(\d{1,4})_(\d{1,4})", re.ASCII)


def version_named(text: str) -> tuple[int, int] | None:
    """Return the version that the operator calls ``v1_20``; None if the text is no such name."""
    found = _VERSION.fullmatch(text)
    return (int(found[1]), int(found[2])) if found else None


@dataclass(frozen=True)
class Operated:
    """How the operator runs a job.

    Parameters
    ----------
    version
        Flink's first two numbers; None if unknown.
    is_session_job
        Whether it is a job on a session cluster.
    config
        The options of Flink that are known.
    is_adaptive
        Whether it runs under the adaptive scheduler, as far as that is known.
    is_standalone
        Whether the operator deploys the cluster in mode ``standalone``.
    restarts
        Whether the document changes more than numbers, so that the operator restarts the job.
    """

    version: tuple[int, ...] | None
    is_session_job: bool
    config: Mapping[str, str]
    is_adaptive: bool
    is_standalone: bool
    restarts: bool = False

    @property
    def is_kept(self) -> bool:
        """Whether a start reads the numbers; True if the version is unknown."""
        if self.is_reactive:
            return False
        first = FIRST_AT_START_OF_SESSION_JOB if self.is_session_job else FIRST_AT_START
        return self.version is None or first <= self.version < FIRST_WITHOUT

    @property
    def is_reactive(self) -> bool:
        """Whether every operator gets all slots, whatever its number is."""
        return self.config.get("scheduler-mode", "").lower() == "reactive"

    @property
    def why_ignored(self) -> str:
        """Why a start does not read the numbers."""
        if self.is_reactive:
            return "scheduler-mode: reactive gives every operator all slots"
        name = f"Flink {'.'.join(map(str, self.version or ()))}"
        if self.version and self.version >= FIRST_WITHOUT:
            return f"{name} ignores {OVERRIDES} at a start (FLINK-38770)"
        return f"{name} does not read {OVERRIDES} at a start"

    def obstacles(self) -> Iterator[str]:
        """Yield why the operator restarts the job instead of changing numbers while it runs."""
        if self.version is not None and self.version < FIRST_IN_PLACE:
            yield "use Flink 1.18 or later"
        if self.is_standalone:
            yield "use mode: native"
        if self.is_reactive or not self.is_adaptive:
            yield "set jobmanager.scheduler: adaptive, without scheduler-mode, and apply that first"
        if self.config.get(IN_PLACE, "").lower() == "false":
            yield f"leave out {IN_PLACE}"
        if self.restarts:
            yield "leave out --node-label"


def adaptive_in(config: Mapping[str, str]) -> bool:
    """Return whether a configuration states the adaptive scheduler."""
    return scheduler_in(config).lower() == "adaptive"
