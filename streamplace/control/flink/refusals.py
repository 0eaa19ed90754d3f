"""Reasons not to act on a job, found by reading only."""

from collections.abc import Iterator, Mapping

from streamplace.integrations.flink.applying.preflight import ADAPTIVE
from streamplace.integrations.flink.documents import Job

HIGHLY_AVAILABLE = ("high-availability.type", "high-availability")
OF_KUBERNETES = ("kubernetes.", "$internal.kubernetes.")
OFF = ("", "none")


def refusals(job: Job, config: Mapping[str, str], counts: Mapping[str, int]) -> Iterator[str]:
    """Yield why no action is allowed on a job, one line each.

    Parameters
    ----------
    config
        The configuration of the JobManager.
    counts
        Operator -> number of its instances, as planned.
    """
    yield from _others(config)
    now = {name: v.parallelism for name, v in job.vertex_of.items()}
    changed = sorted(name for name, count in counts.items() if now.get(name, count) != count)
    if changed and job.max_parallelism is None and job.scheduler.lower() not in ADAPTIVE:
        yield (
            f"the job sets no maximum parallelism, so the state of {changed[0]} may not fit other "
            "numbers of instances; set pipeline.max-parallelism"
        )


def _others(config: Mapping[str, str]) -> Iterator[str]:
    """Yield who else may restart the job, so that two of it would run."""
    for key in HIGHLY_AVAILABLE:
        if (value := config.get(key, "").lower()) not in OFF:
            yield f"{key} is {value}: Flink's JobManagers restart the job, too; only advice is safe"
    if found := [key for key in config if key.startswith(OF_KUBERNETES)]:
        yield f"Kubernetes manages this cluster ({found[0]}), and may restart the job, too"
