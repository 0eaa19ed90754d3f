"""Settings of checkpoints that a restarted job keeps."""

from typing import Any

from streamplace.integrations.flink.applying.checkpoint_settings import checkpoint_settings
from tests.support.flink_server.checkpoint_documents import config

PREFIX = "execution.checkpointing."


def settings(**changes: Any) -> dict[str, str]:
    """Return the settings without the prefix that all their names have."""
    found = checkpoint_settings(config(2000, 600_000, True) | changes)
    assert all(name.startswith(PREFIX) for name in found)
    return {name.removeprefix(PREFIX): text for name, text in found.items()}


def test_another_job_gets_the_same_checkpoints() -> None:
    assert settings(min_pause=500, mode="at_least_once") == {
        "interval": "2000 ms",
        "timeout": "600000 ms",
        "min-pause": "500 ms",
        "mode": "AT_LEAST_ONCE",
        "externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
    }


def test_checkpoints_that_are_deleted_with_their_job_stay_so() -> None:
    for kept in (None, {"enabled": True, "delete_on_cancellation": True}):
        assert "externalized-checkpoint-retention" not in settings(externalization=kept)


def test_a_job_without_checkpoints_continues_without() -> None:
    assert settings(interval=2**63 - 1) == settings(interval=-1) == {}
    assert checkpoint_settings(None) == {}


def test_servers_that_say_little() -> None:
    assert checkpoint_settings({"interval": 5}) == {f"{PREFIX}interval": "5 ms"}
