"""Documents of checkpoints and savepoints, with the fields that Flink 2.3 writes."""

from typing import Any

from tests.support.flink_server.runs import Run

SAVEPOINT = "file:/flink/savepoints/savepoint-0cb345-a43b1f210b74"
CHECKPOINT = "file:/flink/checkpoints/0cb345/chk-6"
TRACE = (
    "org.apache.X: wrapped\n\tat a.B(C.java:1)\nCaused by: java.io.IOException: no space\n\tat d"
)
QUANTILES = ("min", "max", "avg", "p50", "p90", "p95", "p99", "p999")
SIZES = ("checkpointed_size", "state_size", "end_to_end_duration", "alignment_buffered")


def statistics(run: Run, took_ms: int, at_s: float, state_bytes: int) -> dict[str, Any]:
    """Return the statistics of a job whose latest checkpoint began at `at_s`."""
    checkpoint = _completed("CHECKPOINT", CHECKPOINT, took_ms, at_s)
    saved = (
        None
        if run.stopped_at is None
        else _completed("SYNC_SAVEPOINT", run.stopped_at, took_ms, at_s)
    )
    restored = None if run.restored is None else _restored(run.restored, at_s)
    summary = {name: dict.fromkeys(QUANTILES, 1) for name in SIZES}
    counts = {"restored": 0, "total": 1, "in_progress": 0, "completed": 1, "failed": 0}
    checkpoint["state_size"] = state_bytes
    return {
        "counts": counts,
        "summary": {**summary, "processed_data": {}, "persisted_data": {}},
        "latest": {
            "completed": checkpoint,
            "savepoint": saved,
            "failed": None,
            "restored": restored,
        },
        "history": [checkpoint],
    }


def _completed(kind: str, path: str, took_ms: int, at_s: float) -> dict[str, Any]:
    begun = int(at_s * 1e3)
    return {
        "className": "completed",
        "id": 6,
        "status": "COMPLETED",
        "is_savepoint": kind != "CHECKPOINT",
        "savepointFormat": None,
        "trigger_timestamp": begun,
        "latest_ack_timestamp": begun + took_ms,
        "checkpointed_size": 21977,
        "state_size": 21977,
        "end_to_end_duration": took_ms,
        "alignment_buffered": 0,
        "processed_data": 0,
        "persisted_data": 0,
        "num_subtasks": 4,
        "num_acknowledged_subtasks": 4,
        "checkpoint_type": kind,
        "tasks": {},
        "external_path": path,
        "discarded": False,
    }


def _restored(path: str, at_s: float) -> dict[str, Any]:
    return {
        "id": 6,
        "restore_timestamp": int(at_s * 1e3),
        "is_savepoint": True,
        "external_path": path,
    }


def config(interval_ms: int, timeout_ms: int, keeps: bool) -> dict[str, Any]:
    """Return the configuration of a job's checkpoints."""
    return {
        "mode": "exactly_once",
        "interval": interval_ms,
        "timeout": timeout_ms,
        "min_pause": 0,
        "max_concurrent": 1,
        "externalization": {"enabled": keeps, "delete_on_cancellation": not keeps},
        "state_backend": "HashMapStateBackend",
        "checkpoint_storage": "FileSystemCheckpointStorage",
        "unaligned_checkpoints": False,
        "tolerable_failed_checkpoints": 0,
        "aligned_checkpoint_timeout": 0,
        "checkpoints_after_tasks_finish": True,
        "state_changelog_enabled": False,
        "changelog_periodic_materialization_interval": 600_000,
        "changelog_storage": "memory",
    }


def in_progress() -> dict[str, Any]:
    """Return the state of a savepoint that has not ended."""
    return {"status": {"id": "IN_PROGRESS"}, "operation": None}


def completed(path: str) -> dict[str, Any]:
    """Return the state of a savepoint that has ended."""
    return {"status": {"id": "COMPLETED"}, "operation": {"location": path}}


def failed() -> dict[str, Any]:
    """Return the state of a savepoint that has failed, which is COMPLETED, too."""
    cause = {
        "class": "java.util.concurrent.CompletionException",
        "stack-trace": TRACE,
        "serialized-throwable": "",
    }
    return {"status": {"id": "COMPLETED"}, "operation": {"failure-cause": cause}}
