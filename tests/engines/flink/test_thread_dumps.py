"""Thread dumps by a command."""

import shlex
import time
from pathlib import Path

import pytest

from streamplace.engines.flink import cpu_times
from streamplace.engines.flink.cpu_times import Dump, Spent, ThreadDumps, read_dump
from streamplace.errors import BackendError, UsageError
from tests.support.guards import hang_guard

JAVA_17 = """\
1234:
2026-01-02 03:04:05
Full thread dump OpenJDK 64-Bit Server VM (17.0.15+6-Debian-1 mixed mode, sharing):

"main" #1 prio=5 os_prio=0 cpu=120.50ms elapsed=30.25s tid=0x00007f01 nid=0x4d2 waiting  [0x0007]
   java.lang.Thread.State: WAITING (parking)
\tat jdk.internal.misc.Unsafe.park(java.base@17.0.15/Native Method)

"count "by" #7 cpu=x" (1/2)#0" #75 prio=5 os_prio=0 cpu=2500.00ms elapsed=10.00s tid=0x1 nid=0x2
"VM Thread" os_prio=0 cpu=32.61ms elapsed=30.25s tid=0x00007f02 nid=0x4d3 runnable
"twice" #8 daemon prio=5 os_prio=0 cpu=1.00ms elapsed=2.00s tid=0x1 nid=0x2 runnable
"twice" #9 daemon prio=5 os_prio=0 cpu=3.00ms elapsed=2.00s tid=0x1 nid=0x2 runnable
"""
JAVA_21 = '"main" #1 [77] prio=5 os_prio=0 cpu=1.00ms elapsed=2.00s tid=0x1 nid=77 runnable [0x0]\n'
MAIN = {"main": {1: Spent(0.001, 2.0)}}


def test_the_times_of_threads() -> None:
    assert read_dump(JAVA_17) == {
        "main": {1: Spent(0.1205, 30.25)},
        'count "by" #7 cpu=x" (1/2)#0': {75: Spent(2.5, 10.0)},
        "twice": {8: Spent(0.001, 2.0), 9: Spent(0.003, 2.0)},
    }
    assert read_dump(JAVA_21) == MAIN


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1234:\njava.io.IOException",
        JAVA_21.replace("cpu=", ""),
        JAVA_21.replace("#1", "#" + "1" * 5000),
        JAVA_21.replace("cpu=1", "cpu=" + "1" * 400),
    ],
)
def test_a_text_without_cpu_times_is_refused(text: str) -> None:
    with pytest.raises(BackendError, match=r"no thread with a CPU time .* Java 11 or later"):
        read_dump(text)


def test_long_lines_are_read_in_linear_time() -> None:
    with hang_guard(), pytest.raises(BackendError, match="no thread with a CPU time"):
        read_dump('"' + 'x" #1 ' * 100_000)


def of_files(folder: Path, *hosts: str) -> ThreadDumps:
    """Return dumps that a command reads from files, which these TaskManagers have."""
    for host in hosts:
        (folder / host).write_text(JAVA_21)
    return ThreadDumps(f"cat {shlex.quote(str(folder))}/{{}}", 60)


def test_a_command_is_run_for_every_task_manager(tmp_path: Path) -> None:
    dumps = of_files(tmp_path, "pod-1", "10.0.0.1:42743-d7955a")
    assert dumps.take(["pod-1", "10.0.0.1:42743-d7955a", "pod-1"]) == {
        "pod-1": MAIN,
        "10.0.0.1:42743-d7955a": MAIN,
    }


@pytest.mark.parametrize("host", ["", "-o", "a b", "$(reboot)", "../x", "a;b", "\x00", "\ud800"])
def test_ids_that_a_shell_might_act_upon(host: str) -> None:
    with pytest.raises(BackendError, match="of a TaskManager has characters other than letters"):
        ThreadDumps("sh -c 'echo {}'", 60).take([host])


def test_a_command_without_a_place_for_the_id_takes_every_id() -> None:
    assert ThreadDumps(f"echo '{JAVA_21}'", 60).take(["a b"]) == {"a b": MAIN}


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("false", "false failed with 1$"),
        ("no-such-command {}", "cannot run no-such-command tm: No such file"),
        ("sleep 9", "sleep 9: no end within 0.2 s"),
        ("echo {}", "echo tm: no thread with a CPU time in 'tm'"),
    ],
)
def test_faults_of_the_command(command: str, message: str) -> None:
    limit_s = 0.2 if "0.2" in message else 60
    with pytest.raises(BackendError, match=message):
        ThreadDumps(command, limit_s).take(["tm"])


def test_commands_that_cannot_be_read() -> None:
    with pytest.raises(UsageError, match="is not a command: No closing quotation"):
        ThreadDumps("jcmd 'x", 1)
    with pytest.raises(UsageError, match="is empty"):
        ThreadDumps(" ", 1)


class Steps:
    """Dumps of one TaskManager while time goes on by steps."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.file, self.now = folder / "tm", time.monotonic()
        self.dumps, self.taken = of_files(folder, "tm"), list[dict[str, Dump]]()
        patch.setattr(cpu_times, "time", self)

    def monotonic(self) -> float:
        """Return the time."""
        return self.now

    def step(self, seconds: float, works: bool = True, at_end: bool = False) -> int:
        """Wait and add dumps; return how many there are."""
        self.now += seconds
        self.file.write_text(JAVA_21 if works else "")
        self.dumps.add(self.taken, ["tm"], at_end=at_end)
        return len(self.taken)


@pytest.fixture
def steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Steps:
    return Steps(tmp_path, monkeypatch)


def test_dumps_are_taken_every_ten_seconds(steps: Steps) -> None:
    assert [steps.step(s) for s in (0.0, 9.0, 0.9, 0.2, 9.9, 0.2)] == [1, 1, 1, 2, 2, 3]


@pytest.mark.parametrize(("since_s", "count"), [(4.9, 2), (5.1, 3)])
def test_dumps_at_the_end_are_not_right_after_others(
    steps: Steps, since_s: float, count: int
) -> None:
    steps.step(0.0)
    steps.step(10.0)
    assert steps.step(since_s, at_end=True) == count


def test_a_second_dump_is_taken_at_the_end(steps: Steps) -> None:
    steps.step(0.0)
    assert steps.step(0.5, at_end=True) == 2


def test_a_failure_is_ignored_once(steps: Steps) -> None:
    steps.step(0.0)
    assert steps.step(10.0, works=False) == 1
    assert steps.step(1.0) == 1
    assert steps.step(9.0) == 2
    assert steps.step(10.0, works=False) == 2
    with pytest.raises(BackendError, match="no thread with a CPU time"):
        steps.step(10.0, works=False)


def test_the_last_of_several_dumps_may_fail(steps: Steps) -> None:
    steps.step(0.0)
    steps.step(10.0)
    assert steps.step(10.0, works=False, at_end=True) == 2


@pytest.mark.parametrize("before", [0, 1])
def test_the_first_dumps_and_the_second_ones_at_the_end_must_not_fail(
    steps: Steps, before: int
) -> None:
    for _ in range(before):
        steps.step(0.0)
    with pytest.raises(BackendError, match="no thread with a CPU time"):
        steps.step(9.0, works=False, at_end=bool(before))
