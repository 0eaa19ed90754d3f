"""The two controllers of a running job, with matched settings."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from local_flink import LocalFlink
from scripting import ScriptError
from watched import Controller

from benchmarks.rivals.loads import AUTOSCALER, SCALE, WATCH

ENTRY = "org.apache.flink.autoscaler.standalone.StandaloneAutoscalerEntrypoint"
ENDS_S = 20.0  # then its process is killed
LEAVES_S = 10.0 * 60.0  # for which less capacity must be enough, before all times are scaled
SETTINGS: tuple[tuple[str, dict[str, float | str], dict[str, float | str]], ...] = (
    ("target utilisation", {"target-utilisation": 0.7}, {"utilization.target": 0.7}),
    (
        "band in which nothing is done",
        {"low": 0.4, "high": 0.85},
        {"utilization.min": 0.4, "utilization.max": 0.85},
    ),
    (
        "time that is measured (`watch` acts after a fifth of a window where it is sure)",
        {"window": 300.0, "agreeing": 2},
        {"metrics.window": 600.0},
    ),
    ("stabilisation", {"stabilisation": 120.0}, {"stabilization.interval": 120.0}),
    ("time of a restart at first", {"first-downtime": 60.0}, {"restart.time": 60.0}),
    (
        "time of later restarts: measured (`watch` always measures it)",
        {},
        {"restart.time-tracking.enabled": "true"},
    ),
    ("catch-up", {"catch-up": 1800.0}, {"catch-up.duration": 1800.0}),
    (
        "before less capacity",
        {"scale-down-after": LEAVES_S, "most-scale-down": 0.5},
        {"scale-down.interval": LEAVES_S, "scale-down.max-factor": 0.5},
    ),
    (
        "lag from which on a job counts as catching up, so that nothing is taken away",
        {},
        {"backlog-processing.lag-threshold": 300.0},
    ),
    (
        "lag from which on what a source reads counts as all that it can",
        {},
        {"observed-true-processing-rate.lag-threshold": 30.0},
    ),
    ("between two actions", {"cool-down": 600.0}, {}),
    ("actions", {"actions-per-hour": "1000", "actions-per-day": "1000"}, {}),
)
"""What is set -> options of `watch` and of the autoscaler; times in s, before they are scaled."""
MIN_S = 10.0  # smaller values are no times
LOOP_MS = 2000  # of the autoscaler, which is not scaled, as Flink's metrics are not


@contextmanager
def watching(flink: LocalFlink, job: str, folder: Path) -> Iterator[None]:
    """Let `streamplace watch` change a job, which it measures itself first."""
    own = {name: value for _, options, _ in SETTINGS for name, value in options.items()}
    how = [word for name, value in own.items() for word in (f"--{name}", f"{value}")]
    how += ["--restart-by", "adaptive"]
    with Controller(flink.url, job, folder, how, with_graph=False, scale=SCALE) as controller:
        yield
        controller.check()


@contextmanager
def autoscaling(flink: LocalFlink, built: Path, slots: int, folder: Path) -> Iterator[None]:
    """Let Apache Flink's autoscaler change the jobs of a cluster.

    Parameters
    ----------
    built
        The folder with its jars.
    slots
        The largest number of instances of a vertex.
    """
    own: dict[str, Any] = {name: scaled(v) for *_, of in SETTINGS for name, v in of.items()}
    own = {f"job.autoscaler.{name}": value for name, value in own.items()} | {
        "job.autoscaler.enabled": "true",
        "job.autoscaler.vertex.max-parallelism": slots,
        "autoscaler.standalone.control-loop.interval": f"{LOOP_MS} ms",
        "autoscaler.standalone.fetcher.flink-cluster.host": flink.address,
        "autoscaler.standalone.fetcher.flink-cluster.port": flink.rest,
    }
    words = [word for name, value in own.items() for word in (f"--{name}", f"{value}")]
    jars = f"{built}/*:{flink.home / 'lib'}/*"
    command = ["java", "-Xmx256m", "-XX:+UseSerialGC", "-cp", jars, ENTRY, *words]
    with (folder / "autoscaler.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            yield
            if process.poll() is not None:
                raise ScriptError(f"the autoscaler ended; see {log.name}")
        finally:
            process.terminate()
            try:
                process.wait(ENDS_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def scaled(value: float | str) -> float | str:
    """Return the value of an option of the autoscaler, with times as `watch` scales its own."""
    if isinstance(value, str) or value < MIN_S:
        return value
    return f"{round(value * SCALE * 1e3)} ms"


def _shown(value: float | str) -> str:
    """Return the value of an option of `watch`, with times as they are scaled."""
    if isinstance(value, str) or value < MIN_S:
        return f"{value}"
    return f"{value * SCALE:g} s"


def matched() -> list[dict[str, str]]:
    """Return the settings as rows of a table, with times as they are in a run."""
    rows = []
    for what, ours, theirs in SETTINGS:
        mine = {name: _shown(value) for name, value in ours.items()}
        other = {name: scaled(value) for name, value in theirs.items()}
        rows.append(
            {
                "setting": what,
                WATCH: ", ".join(f"--{k} {v}" for k, v in mine.items()),
                AUTOSCALER: ", ".join(f"{k} {v}" for k, v in other.items()),
            }
        )
    return rows
