"""The configuration of a local Flink cluster."""

MODULE_OPTIONS = (
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
BUSY_MACHINE = "-Dpekko.remote.classic.startup-timeout=60s"  # Flink has no option for it
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
heartbeat.interval: 2 s
heartbeat.timeout: 10 s
resourcemanager.standalone.start-up-time: 10000
metrics.fetcher.update-interval: 1 s
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
slot.idle.timeout: 3 s
"""
"""The adaptive scheduler, whose waiting times are at 1/15 of Flink's defaults, or nearly so."""
