"""What is forked behaves as what a shell starts."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.hardening.forks import Forks
from tests.cli.command import run


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    with Forks() as made:
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


def test_stdin_is_read(forks: Forks, tmp_path: Path) -> None:
    given = tmp_path / "given.json"
    given.write_text("{}")
    ended = forks.run("place", "-", stdin=given)
    assert ended.code == 2
    assert ended.err.startswith("streamplace: stdin: ")


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


def test_files_are_bounded(forks: Forks, tmp_path: Path) -> None:
    path = tmp_path / "graphs.jsonl"
    ended = forks.run("generate", "dream", "--count", "50", "-o", path, file_bytes=1000)
    assert ended.code == 2
    assert "cannot be written" in ended.err
    assert list(tmp_path.iterdir()) == []
