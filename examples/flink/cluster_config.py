"""The configuration of a local Flink cluster, for Flink 1.17 to 2.3."""

from collections.abc import Mapping
from pathlib import Path

MODULE_OPTIONS = (
    "--add-exports=java.base/sun.net.util=ALL-UNNAMED",  # before 1.18
    "--add-exports=java.rmi/sun.rmi.registry=ALL-UNNAMED",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/java.net=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
    "--add-opens=java.base/java.text=ALL-UNNAMED",
    "--add-opens=java.base/java.time=ALL-UNNAMED",
    "--add-opens=java.base/java.util=ALL-UNNAMED",
    "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
    "--add-opens=java.base/java.util.concurrent.atomic=ALL-UNNAMED",
    "--add-opens=java.base/java.util.concurrent.locks=ALL-UNNAMED",
)
"""JVM options that open modules to Flink, from its conf/config.yaml for Java 17."""
BUSY_MACHINE = tuple(f"-D{each}.remote.classic.startup-timeout=60s" for each in ("akka", "pekko"))
"""JVM options for which Flink has none of its own; 1.17 calls pekko akka."""
CONFIG = """\
jobmanager.rpc.address: {address}
jobmanager.bind-host: {address}
jobmanager.rpc.port: {rpc}
jobmanager.execution.failover-strategy: region
rest.address: {address}
rest.bind-address: {address}
rest.port: {rest}
rest.bind-port: {rest}
blob.server.port: 0
web.submit.enable: true
web.tmpdir: {folder}/tmp
io.tmp.dirs: {folder}/tmp
taskmanager.host: 127.0.0.1
taskmanager.bind-host: 127.0.0.1
taskmanager.numberOfTaskSlots: 1
taskmanager.cpu.cores: 1
taskmanager.memory.framework.heap.size: 96m
taskmanager.memory.task.heap.size: 96m
taskmanager.memory.framework.off-heap.size: 64m
taskmanager.memory.task.off-heap.size: 0m
taskmanager.memory.managed.size: 16m
taskmanager.memory.network.min: 32m
taskmanager.memory.network.max: 32m
taskmanager.memory.jvm-metaspace.size: 128m
taskmanager.memory.jvm-overhead.min: 64m
taskmanager.memory.jvm-overhead.max: 64m
restart-strategy.type: {restart}
restart-strategy.fixed-delay.attempts: 100
restart-strategy.fixed-delay.delay: 1 s
execution.checkpointing.dir: file://{folder}/checkpoints
execution.checkpointing.savepoint-dir: file://{folder}/savepoints
heartbeat.interval: 2000
heartbeat.timeout: 10000
resourcemanager.standalone.start-up-time: 10000
metrics.fetcher.update-interval: 1000
"""
SMALL_BUFFERS = """\
taskmanager.memory.network.memory.buffer-debloat.enabled: true
taskmanager.memory.segment-size: 4kb
"""
ADAPTIVE = """\
jobmanager.scheduler: adaptive
jobmanager.adaptive-scheduler.executing.cooldown-after-rescaling: 2 s
jobmanager.adaptive-scheduler.executing.resource-stabilization-timeout: 4 s
jobmanager.adaptive-scheduler.submission.resource-stabilization-timeout: 1 s
slot.idle.timeout: 3000
"""
"""The adaptive scheduler, whose waiting times are at 1/15 of Flink's defaults, or nearly so."""
FIRST_WITH_NEW_NAMES = 2
OLD_NAMES = {
    "restart-strategy.type": "restart-strategy",
    "execution.checkpointing.dir": "state.checkpoints.dir",
    "execution.checkpointing.savepoint-dir": "state.savepoints.dir",
    "jobmanager.adaptive-scheduler.executing.cooldown-after-rescaling": (
        "jobmanager.adaptive-scheduler.scaling-interval.min"
    ),
    "jobmanager.adaptive-scheduler.submission.resource-stabilization-timeout": (
        "jobmanager.adaptive-scheduler.resource-stabilization-timeout"
    ),
}
"""Option of Flink 2 -> its name in Flink 1."""


def version_in(home: Path) -> str:
    """Return the version of Flink in a folder, such as ``2.3.0``."""
    (jar,) = (home / "lib").glob("flink-dist-*.jar")
    return jar.stem.removeprefix("flink-dist-")


def major(version: str) -> int:
    """Return the first number of a version."""
    return int(version.partition(".")[0])


def write_config(folder: Path, version: str, config: str, values: Mapping[str, object]) -> None:
    """Write the configuration into a folder, in the file and with the names that a version reads.

    Lines of `config` replace those of `CONFIG`. Flink 1.17 needs one for slot-sharing groups
    with labels.
    """
    lines = (CONFIG.format(**values) + config).splitlines()
    found = dict(line.split(": ", 1) for line in lines)
    name = "config.yaml"
    if major(version) < FIRST_WITH_NEW_NAMES:
        found = {OLD_NAMES.get(key, key): value for key, value in found.items()}
        found["cluster.fine-grained-resource-management.enabled"] = "true"
        name = "flink-conf.yaml"
    text = "".join(f"{key}: {value}\n" for key, value in found.items())
    (folder / name).write_text(text)
