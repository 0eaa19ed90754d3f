"""Settings of a job's checkpoints, for a job that continues it."""

from typing import Any

INTERVAL = "execution.checkpointing.interval"
RETENTION = "execution.checkpointing.externalized-checkpoint-retention"
NEVER_MS = 2**62  # the interval of checkpoints in a job without them is larger


def checkpoints_enabled(config: Any) -> bool:
    """Return whether a job has checkpoints, from its document; None if Flink has no document."""
    return config is not None and 0 < int(config["interval"]) < NEVER_MS


def keeps_checkpoints(config: Any) -> bool:
    """Return whether checkpoints outlive a cancelled job."""
    kept = {} if config is None else config.get("externalization") or {}
    return kept.get("enabled") is True and kept.get("delete_on_cancellation") is False


def checkpoint_settings(config: Any) -> dict[str, str]:
    """Return the options of Flink that give another job the same checkpoints.

    A job that was started with `flink run -D…` has them from the command line, which Flink does not
    keep: a job started from the same jar would have no checkpoints.
    """
    if not checkpoints_enabled(config):
        return {}
    found = {INTERVAL: f"{int(config['interval'])} ms"}
    for key, option in (("timeout", "timeout"), ("min_pause", "min-pause")):
        if key in config:
            found[f"execution.checkpointing.{option}"] = f"{int(config[key])} ms"
    if "mode" in config:
        found["execution.checkpointing.mode"] = str(config["mode"]).upper()
    if keeps_checkpoints(config):
        found[RETENTION] = "RETAIN_ON_CANCELLATION"
    return found
