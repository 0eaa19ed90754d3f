"""Forks behave like processes that are started from a shell."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.hardening.harness.forks import Forks
from benchmarks.hardening.harness.privileges import override_dropped
from benchmarks.hardening.harness.stopwatch import asleep_s
from tests.support.cli import run


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    with Forks() as made:
        yield made


@pytest.mark.parametrize(
    "arguments",
    [["--version"], ["place", "nobody.json"], ["place"], ["info", "dataset:real/q4"]],
    ids=" ".join,
)
def test_exit_code_and_output_are_those_of_a_process(forks: Forks, arguments: list[str]) -> None:
    ended, expected = forks.run(*arguments), run(*arguments)
    assert (ended.code, ended.out) == (expected.returncode, expected.stdout)
    assert ended.err == expected.stderr
    assert not ended.hung


def test_a_signal_is_sent_after_a_time(forks: Forks, tmp_path: Path) -> None:
    waits = ("generate", "dream", "--count", "1000000", "-o", tmp_path / "graphs.jsonl")
    ended = forks.run(*waits, after_s=0.3)
    assert ended.code == -signal.SIGKILL
    assert not ended.hung
    ended = forks.run(*waits, after_s=0.3, signum=signal.SIGINT)
    assert ended.code == 130


def test_a_command_that_exceeds_its_time_limit_hangs(forks: Forks, tmp_path: Path) -> None:
    ended = forks.run(
        "generate", "dream", "--count", "1000000", "-o", tmp_path / "g.jsonl", limit_s=0.3
    )
    assert ended.hung
    assert list(tmp_path.glob("g.jsonl")) == []


def test_a_file_without_permissions_is_not_readable(tmp_path: Path) -> None:
    """Not even root can read it, although root usually can."""
    closed = tmp_path / "closed.json"
    closed.write_text("{}")
    closed.chmod(0)
    with override_dropped(), pytest.raises(PermissionError):
        closed.read_text()
    if os.geteuid() == 0:
        assert closed.read_text() == "{}"


@pytest.mark.parametrize(
    ("wall_s", "cpu_s", "scheduled", "asleep"),
    [
        (5.0, 1.0, 1.0, 4.0),  # computed for 1 s, never waited for a processor
        (5.0, 1.0, 4.5, 0.5),  # waited 3.5 s for a processor
        (5.0, 1.0, 5.5, 0.0),
        (5.0, 6.0, 5.0, 0.0),  # several threads
        (20.0, 1.0, None, 6.0),  # the kernel does not report waiting
        (5.0, 1.0, None, 0.0),
    ],
)
def test_waiting_for_a_processor_does_not_count_as_sleep(
    wall_s: float, cpu_s: float, scheduled: float | None, asleep: float
) -> None:
    assert asleep_s(wall_s, cpu_s, scheduled) == asleep
