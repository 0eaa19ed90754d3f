"""The versions of Flink on which jobs are changed."""

import re
from collections.abc import Iterator, Mapping

TRIED: tuple[str, ...] = ("1.17", "1.18", "1.19", "1.20", "2.0", "2.1", "2.2", "2.3")
"""`apply` and `watch` refuse others; `python -m benchmarks.flink_versions FOLDER` tries one."""
FIRST_IN_PLACE = "1.18"
FIRST_WITH_LABELS = "1.18"  # by default
WITH_LABELS = "cluster.fine-grained-resource-management.enabled"


def faults_of_version(version: str) -> Iterator[str]:
    """Yield that nothing was tried on a version, such as ``1.16.3``."""
    if minor_of(version) not in TRIED:
        tried = f"{', '.join(TRIED[:-1])} and {TRIED[-1]}"
        yield f"Flink {version} is none of the versions that streamplace was run on: {tried}"


def faults_in_place(version: str) -> Iterator[str]:
    """Yield that a version cannot change numbers of instances while a job runs."""
    if _numbers(version) < _numbers(FIRST_IN_PLACE):
        yield (
            f"Flink {version} cannot change numbers of instances while a job runs; "
            f"{FIRST_IN_PLACE} and later versions can"
        )


def faults_of_labels(version: str, config: Mapping[str, str]) -> Iterator[str]:
    """Yield that a cluster of a version has no slots for groups with labels."""
    if config.get(WITH_LABELS, "false").lower() == "true":
        return
    if _numbers(version) < _numbers(FIRST_WITH_LABELS):
        yield f"Flink {version} has slots for labels only with {WITH_LABELS}: true"


def minor_of(version: str) -> str:
    """Return the first two numbers of a version: ``2.3`` of ``2.3.0``."""
    return ".".join(map(str, _numbers(version)))


def _numbers(version: str) -> tuple[int, ...]:
    found = re.match(r"(\d{1,4})\.(\d{1,4})", version)
    return tuple(map(int, found.groups())) if found else ()
