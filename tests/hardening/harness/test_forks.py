"""Forks behave like processes that a shell starts."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.hardening.harness.fork_server import wait_for_end
from benchmarks.hardening.harness.forks import Forks
from benchmarks.hardening.harness.privileges import override_dropped
from benchmarks.hardening.harness.stopwatch import Stopwatch
from tests.support.cli import run


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    with Forks() as made:
        yield made


@pytest.fixture(scope="module")
def slow() -> Iterator[Forks]:
    with Forks(modules=("tests.support.hardening.slow_commands",)) as made:
        yield made


@pytest.mark.parametrize(
    "arguments",
    [["--version"], ["place", "nobody.json"], ["place"], ["info", "dataset:real/q4"]],
    ids=" ".join,
)
def test_exit_code_and_text_are_those_of_a_process(forks: Forks, arguments: list[str]) -> None:
    ended, expected = forks.run(*arguments), run(*arguments)
    assert (ended.code, ended.out) == (expected.returncode, expected.stdout)
    assert ended.err == expected.stderr
    assert not ended.hung


def test_a_signal_comes_after_its_time(forks: Forks, tmp_path: Path) -> None:
    waits = ("generate", "dream", "--count", "1000000", "-o", tmp_path / "graphs.jsonl")
    ended = forks.run(*waits, after_s=0.3)
    assert ended.code == -signal.SIGKILL
    assert not ended.hung
    ended = forks.run(*waits, after_s=0.3, number=signal.SIGINT)
    assert ended.code == 130


def test_what_takes_too_long_hangs(forks: Forks, tmp_path: Path) -> None:
    ended = forks.run(
        "generate", "dream", "--count", "1000000", "-o", tmp_path / "g.jsonl", limit_s=0.3
    )
    assert ended.hung
    assert list(tmp_path.glob("g.jsonl")) == []


def test_a_closed_file_is_not_readable(forks: Forks, tmp_path: Path) -> None:
    """Root may not either, which usually may."""
    closed = tmp_path / "closed.json"
    closed.write_text("{}")
    closed.chmod(0)
    assert "ermission denied" in forks.run("info", closed, closed=True).err
    with override_dropped(), pytest.raises(PermissionError):
        closed.read_text()
    if os.geteuid() == 0:
        assert closed.read_text() == "{}"


def test_memory_is_bounded(slow: Forks) -> None:
    ended = slow.run("plan", "graph.json", data_bytes=5 * 10**8)
    assert (ended.code, ended.err) == (1, "streamplace: out of memory\n")
    assert slow.run("plan", "graph.json").code == 0


def test_late_notice_of_the_end_is_not_sleep() -> None:
    """The fork server waits for a processor too, on a busy machine for more than a second."""

    class Awake(Stopwatch):
        def since(self) -> tuple[float, float]:
            return 0.0, 0.1

    asked = {"once": None, "after_s": None, "limit_s": 60.0}
    begin, child = time.monotonic() - 2.0, os.fork()
    if not child:
        os._exit(0)
    _, hung, _, asleep = wait_for_end(child, asked, begin, Awake())
    assert not hung
    assert asleep <= 0.1


def test_waiting_for_a_processor_is_not_sleep(slow: Forks) -> None:
    sleeps, works = slow.run("info", "nobody.json"), slow.run("place", "nobody.json")
    assert 1.4 < sleeps.asleep_seconds < 5
    assert sleeps.cpu_seconds < 1
    assert works.asleep_seconds < 1
    assert works.cpu_seconds > 1
