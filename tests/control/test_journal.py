"""The journal: cut at any byte, it reads back to its last whole line."""

import itertools
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from streamplace.control.journal import (
    HEAD,
    OPENED,
    Entry,
    Journal,
    latest,
    read_entries,
    unfinished,
)
from streamplace.errors import FormatError, UsageError
from tests.support.cli import ENVIRONMENT
from tests.support.errors import fault_of

STEPS: list[tuple[float, str, dict[str, Any]]] = [
    (1.0, "decided", {"state": {"version": 1}, "reason": "nothing: größer"}),
    (2.0, "began", {"job": "a1", "plan": {"hosts": {"decode": ["d0"]}}}),
    (3.5, "stopped", {"savepoint": "file:/sp-1"}),
    (4.0, "started", {"job": "b2"}),
    (5.0, "ended", {"succeeded": True}),
    (6.0, "decided", {"state": {"version": 1, "count": 2}}),
]
WRITE = """
import sys
from streamplace.control.journal import Journal
with Journal(sys.argv[1]) as journal:
    for i in range(10_000):
        journal.write(float(i), "decided", count=i)
        print(i, flush=True)
"""


def written(path: Path) -> bytes:
    """Write a journal of all steps, and return its bytes."""
    with Journal(path) as journal:
        for at_s, step, details in STEPS:
            journal.write(at_s, step, **details)
    return path.read_bytes()


def test_entries_read_back(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    lines = written(path).decode().splitlines()
    values = [json.loads(line) for line in lines[1:]]
    assert [{name: value[name] for name in value if name != "sha256"} for value in values] == [
        {"at": at_s, "step": step, **details} for at_s, step, details in STEPS
    ]
    with Journal(path) as journal:
        entries = read_entries(path)[0]
        assert [(e.at_s, e.step, dict(e.details)) for e in entries] == STEPS
        assert journal.latest("job") == "b2"
        assert journal.latest("state") == {"version": 1, "count": 2}
        assert journal.latest("nobody") is None
        assert journal.unfinished == ()


def test_of_controllers_that_begin_at_once_one_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        monkeypatch.setattr(os.path, "lexists", lambda _: False)  # the other one looked before
        with pytest.raises(FormatError, match="is writing into this journal"):
            Journal(path)
        journal.write(1.0, "decided", count=1)
    assert [entry.step for entry in read_entries(path)[0]] == ["decided"]


def test_a_cut_journal_reads_back_to_the_last_whole_line(tmp_path: Path) -> None:
    """At every byte: what is left can be read, says what was under way, and goes on."""
    data = written(tmp_path / "whole.jsonl")
    path = tmp_path / "journal.jsonl"
    for size in range(len(data) + 1):
        path.write_bytes(data[:size])
        lines = data[:size].split(b"\n")[:-1]
        names = [step for _, step, _ in STEPS[: max(len(lines) - 1, 0)]]
        entries, whole = read_entries(path)
        assert [entry.step for entry in entries] == names
        assert whole == sum(len(line) + 1 for line in lines)
        is_open = "began" in names and "ended" not in names
        under_way = names[names.index("began") :] if is_open else []
        assert [entry.step for entry in unfinished(entries)] == under_way
        if size % 9 == 0:
            with Journal(path) as journal:
                journal.write(9.0, "ended")
            kept = data[:whole] or HEAD.encode()
            assert path.read_bytes() == kept + Entry(9.0, "ended").line().encode()


def test_a_killed_writer_has_every_entry_that_it_reported(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    words = [sys.executable, "-c", WRITE, str(path)]
    with subprocess.Popen(words, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        reported = [int(process.stdout.readline()) for _ in range(20)]
        process.send_signal(signal.SIGKILL)
        reported += [int(line) for line in process.stdout]
    Journal(path).close()
    found = [entry.details["count"] for entry in read_entries(path)[0]]
    assert found[: len(reported)] == reported
    assert len(found) - len(reported) in (0, 1), "the last one may not have been reported"


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("hello", "is not a journal of the controller"),
        ("hello\n", "is not a journal of the controller"),
        ('{"format": "streamplace-graph"}\n', "is not a journal of the controller"),
        ('{"format": "streamplace-journal", "version": 2}\n', "a journal of version 2, and this"),
        (HEAD + "[]\n", "line 2: is not an entry of a journal"),
        (HEAD + '{"at": 1.0}\n', "line 2: is not an entry of a journal"),
        (HEAD + '{"at": 1.0, "step"\n', "line 2: "),
        (HEAD.encode() + b"\xff\n", "line 2: is not UTF-8"),
    ],
)
def test_other_files_are_refused_and_stay(tmp_path: Path, content: str | bytes, fault: str) -> None:
    path = tmp_path / "journal.jsonl"
    data = content if isinstance(content, bytes) else content.encode()
    path.write_bytes(data)
    with pytest.raises(FormatError) as caught:
        Journal(path)
    assert fault in fault_of(caught.value, path)
    assert path.read_bytes() == data


def test_only_one_process_writes(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path), pytest.raises(FormatError, match="another controller is writing"):
        Journal(path)
    Journal(path).close()


def test_a_full_disk_leaves_whole_lines(tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk."""
    path = tmp_path / "journal.jsonl"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with Journal(path) as journal:
        journal.write(1.0, "began")
        size = path.stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, before[1]))
        try:
            with pytest.raises(FormatError, match="cannot write"):
                journal.write(2.0, "stopped", savepoint="x" * 100)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, handler)
        assert path.stat().st_size == size
        journal.write(3.0, "ended")
    assert [entry.step for entry in read_entries(path)[0]] == ["began", "ended"]


def test_an_opening_that_nothing_followed_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    for more in ([], ["window"], []):
        with Journal(path) as journal:
            for step in (OPENED, *more):
                journal.write(1.0, step)
            steps = [entry.step for entry in read_entries(path)[0]]
            assert steps[-1 - len(more) :] == [OPENED, *more]
    assert [entry.step for entry in read_entries(path)[0]] == [OPENED, "window"]


def test_details_must_not_hide_the_step(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.jsonl") as journal:
        with pytest.raises(UsageError, match="must not be called 'at'"):
            journal.write(1.0, "began", at=2.0)
        assert read_entries(journal.path)[0] == []


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="cannot write"):
        Journal(tmp_path / "none" / "journal.jsonl")
    assert os.listdir(tmp_path) == []


def test_a_changed_line_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    data = written(path)
    for before, after in ((b'"b2"', b'"c3"'), (b"3.5", b"3.6"), (b'"stopped"', b'"started"')):
        path.write_bytes(data.replace(before, after))
        with pytest.raises(FormatError, match=r"line [45]: has changed since it was written"):
            read_entries(path)


def test_the_job_of_a_journal_is_the_latest(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.jsonl") as journal:
        assert journal.jobs == []
        for job in ("a1", "b2", "a1", "c3"):
            journal.write(1.0, "window", job=job)
        assert journal.jobs == ["b2", "a1", "c3"]


@pytest.mark.parametrize("steps", [*itertools.product(("began", "ended", "x"), repeat=4)])
def test_what_is_kept_is_what_a_reader_finds(tmp_path: Path, steps: tuple[str, ...]) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        for number, step in enumerate(steps):
            journal.write(1.0, step, **{"count" if number % 2 else "job": f"{number}"})
        entries = read_entries(path)[0]
        kept = journal.unfinished, journal.jobs, journal.latest("count")
        assert kept == (unfinished(entries), ["0", "2"], latest(entries, "count"))
    with Journal(path) as again:
        assert (again.unfinished, again.jobs, again.latest("count")) == kept
