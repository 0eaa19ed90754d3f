"""Writing commands that are killed or interrupted."""

import random
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.hardening.campaigns.writers import interrupts, kills
from benchmarks.hardening.campaigns.writers.file_checks import unreadable
from benchmarks.hardening.campaigns.writers.interrupts import faults, interrupt, is_line
from benchmarks.hardening.campaigns.writers.kills import (
    Kills,
    kill_parents,
    kill_training,
    kill_writers,
    kills_row,
    run_and_kill,
)
from benchmarks.hardening.campaigns.writers.training_runs import EVERY, completion_faults
from benchmarks.hardening.campaigns.writers.workloads import (
    clusters_command,
    compare_command,
    gantt_command,
    generate_command,
    table_command,
)
from benchmarks.hardening.campaigns.writers.writing_command import WritingCommand, check_success
from benchmarks.hardening.harness.forks import Forks
from benchmarks.hardening.harness.orphans import survivors

FEW = 2


def test_killed_training(forks: Forks, train: tuple[WritingCommand, str]) -> None:
    (found,) = kill_training(forks, *train, FEW, random.Random(1))
    assert found.good, found.faults


def test_another_parameter_hash_is_noticed(forks: Forks, train: tuple[WritingCommand, str]) -> None:
    (found,) = kill_training(forks, train[0], "another", 1, random.Random(1))
    assert found.wrong["other final parameters"] >= 1


def test_killed_place(forks: Forks, place: WritingCommand) -> None:
    (found,) = kill_writers(forks, [place], 2 * FEW, random.Random(2))
    assert found.good, found.faults


def test_killed_compare_and_generate(forks: Forks, inputs: Path, folder: Path) -> None:
    commands = [generate_command(forks, inputs, folder), compare_command(forks, inputs, folder)]
    commands += [clusters_command(forks, folder), gantt_command(forks, inputs, folder)]
    commands += [table_command(forks, inputs, folder)]
    for found in kill_writers(forks, commands, FEW, random.Random(2)):
        assert found.good, found.faults


def test_a_kill_before_the_first_write_does_not_count(forks: Forks, place: WritingCommand) -> None:
    tally = Kills()
    place.restore()
    before = place.entries()
    ended = run_and_kill(forks, place, {"after_s": 0.0}, tally)
    assert ended is not None
    assert not tally.count_kill(place, before, is_over=place.is_complete())
    assert (tally.early, tally.late, tally.counted) == (1, 0, 0)


def test_a_kill_after_the_end_does_not_count(forks: Forks, place: WritingCommand) -> None:
    place.restore()
    tally, before = Kills(), place.entries()
    assert run_and_kill(forks, place, {"after_s": 60.0}, tally) is None
    assert tally.late == 1
    assert not tally.count_kill(place, before, is_over=place.is_complete())
    assert (tally.early, tally.late, tally.counted) == (0, 2, 0)


def test_kills_that_all_come_too_early_are_noticed(
    forks: Forks, place: WritingCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kills, "kill_moment", lambda *_: {"after_s": 0.0})
    monkeypatch.setattr(kills, "TRIES", 2)
    (found,) = kill_writers(forks, [place], 1, random.Random(2))
    assert not found.good
    assert found.faults == ["only 0 of 1 kills came during the work"]


def test_losing_more_than_a_checkpoint_interval_is_noticed() -> None:
    tally = Kills(counted=2, lost=[EVERY, EVERY + 1], steps=[4, 5])
    found = kills_row("train", 2, tally)
    assert found.wrong["lost more than a checkpoint interval"] == 1
    assert found.figures["steps lost at most"] == f"{EVERY + 1} of {EVERY}"


def test_no_worker_outlives_its_killed_parent(forks: Forks, inputs: Path, folder: Path) -> None:
    generate = generate_command(forks, inputs, folder, 2)
    (found,) = kill_parents(forks, [generate], FEW, random.Random(3))
    assert found.good, found.faults


def test_a_writer_that_is_not_atomic_is_noticed(inputs: Path, tmp_path: Path) -> None:
    with Forks(modules=("tests.support.hardening.writes_in_place",)) as careless:
        command, tally = generate_command(careless, inputs, tmp_path), Kills()
        for part in (0.5, 0.6, 0.7, 0.8, 0.9):  # shares of the run, which mostly writes
            command.restore()
            tally.check(command, careless.run(*command.words, after_s=part * command.seconds))
    assert tally.faults


def test_a_surviving_process_is_noticed() -> None:
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as process:
        assert survivors(process.pid, 0.1) == [process.pid]
        process.kill()
    assert survivors(process.pid, 60.0) == []


@pytest.mark.parametrize("keep", [0.0, 0.5, 0.99])
def test_a_truncated_file_is_noticed(keep: float, inputs: Path, place: WritingCommand) -> None:
    place.restore()
    assert place.faults() == []
    file = place.folder / "placement.json"
    file.write_bytes(file.read_bytes()[: int(file.stat().st_size * keep)])
    assert "placement.json has neither its old nor its new content" in place.faults()[0]
    assert unreadable(file)
    file.unlink()
    assert place.faults() == ["placement.json is lost"]


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_commands(
    signum: signal.Signals, forks: Forks, train: tuple[WritingCommand, str], place: WritingCommand
) -> None:
    commands = [train[0], place] if signum == signal.SIGINT else [place]
    row = interrupt(forks, commands, train[1], signum, FEW, random.Random(4))
    assert row.good, row.faults


def test_a_signal_that_is_always_late_is_noticed(
    forks: Forks, place: WritingCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interrupts, "TRIES", 3)
    slow = replace(place, seconds=1e6)
    row = interrupt(forks, [slow], "", signal.SIGTERM, 1, random.Random(4))
    assert not row.good
    assert "3 attempts at the wrong moment" in row.faults[0]


def test_training_that_reports_a_false_end_is_noticed(
    forks: Forks, train: tuple[WritingCommand, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files of training vary, so only the final parameters show whether all steps were done."""
    command, expected = train
    command.restore()
    ended, idle = (check_success(forks.run(*words)) for words in (command.words, ("--version",)))
    assert completion_faults(command, ended, set(), expected) == []
    (fault_text,) = completion_faults(command, ended, set(), "another")
    assert fault_text == "reports success: other parameters"
    (fault_text,) = completion_faults(command, idle, set(), expected)
    assert fault_text.startswith("reports success: reports no parameter hash")
    monkeypatch.setattr(interrupts, "TRIES", 1)
    slow = replace(command, seconds=1e6)
    row = interrupt(forks, [slow], "another", signal.SIGINT, 1, random.Random(4))
    assert any("other parameters" in fault for fault in row.faults)


def test_success_without_a_file_is_noticed(forks: Forks, place: WritingCommand) -> None:
    place.restore()
    before = place.entries()
    ended = check_success(forks.run(*place.words))
    assert completion_faults(place, ended, before, "") == []
    assert (
        "never writes ['placement.json']" in completion_faults(place, ended, place.entries(), "")[0]
    )


def test_the_signal_itself_may_end_an_idle_command(forks: Forks, place: WritingCommand) -> None:
    """The signal may end a command before it loads anything, but not after a write or a message."""
    place.restore()
    before = place.entries()
    ended = replace(check_success(forks.run("--version")), out="", code=-signal.SIGINT)
    assert list(faults(place, ended, before, signal.SIGINT)) == []
    (fault_text,) = faults(place, replace(ended, err="half a"), before, signal.SIGINT)
    assert "after it printed 'half a'" in fault_text
    assert "exit -2" in next(faults(place, ended, before, signal.SIGTERM))
    check_success(forks.run(*place.words))
    (fault_text,) = faults(place, ended, before, signal.SIGINT)
    assert "after it wrote ['placement.json']" in fault_text


@pytest.mark.parametrize(
    ("err", "good"),
    [
        ("streamplace: interrupted; nothing\n", True),
        ("\nstreamplace: interrupted; nothing\n", True),
        ("", False),
        ("streamplace: interrupted\nTraceback\n", False),
        ("Traceback\nstreamplace: interrupted\n", False),
    ],
)
def test_a_message_is_one_line(err: str, good: bool) -> None:
    assert is_line(err, "streamplace: interrupted") is good
