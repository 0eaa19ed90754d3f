"""CPU times from thread dumps."""

import shlex
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from streamplace.errors import BackendError, UsageError
from streamplace.integrations.flink.fit import fit
from streamplace.integrations.flink.plan import RunningPlan, Vertex, running
from streamplace.integrations.flink.thread_dumps import (
    Dump,
    Spent,
    ThreadDumps,
    cpu_times,
    read_dump,
)
from streamplace.integrations.profiling.counters import Counters, Reading, usable_readings
from streamplace.integrations.profiling.estimates import Estimate

JAVA_17 = """\
1234:
2026-01-02 03:04:05
Full thread dump OpenJDK 64-Bit Server VM (17.0.15+6-Debian-1 mixed mode, sharing):

"main" #1 prio=5 os_prio=0 cpu=120.50ms elapsed=30.25s tid=0x00007f01 nid=0x4d2 waiting  [0x0007]
   java.lang.Thread.State: WAITING (parking)
\tat jdk.internal.misc.Unsafe.park(java.base@17.0.15/Native Method)

"count "by key" (1/2)#0" #75 prio=5 os_prio=0 cpu=2500.00ms elapsed=10.00s tid=0x1 nid=0x2 runnable
"VM Thread" os_prio=0 cpu=32.61ms elapsed=30.25s tid=0x00007f02 nid=0x4d3 runnable
"twice" #8 daemon prio=5 os_prio=0 cpu=1.00ms elapsed=2.00s tid=0x1 nid=0x2 runnable
"twice" #9 daemon prio=5 os_prio=0 cpu=3.00ms elapsed=2.00s tid=0x1 nid=0x2 runnable
"""
JAVA_21 = '"main" #1 [77] prio=5 os_prio=0 cpu=1.00ms elapsed=2.00s tid=0x1 nid=77 runnable [0x0]\n'


def test_the_times_of_threads() -> None:
    assert read_dump(JAVA_17) == {
        "main": Spent(0.1205, 30.25),
        'count "by key" (1/2)#0': Spent(2.5, 10.0),
    }
    assert read_dump(JAVA_21) == {"main": Spent(0.001, 2.0)}


@pytest.mark.parametrize("text", ["", "1234:\njava.io.IOException", JAVA_21.replace("cpu=", "")])
def test_a_text_without_cpu_times_is_refused(text: str) -> None:
    with pytest.raises(BackendError, match=r"no thread with a CPU time .* Java 11 or later"):
        read_dump(text)


def plan(parallelism: int = 2) -> RunningPlan:
    nodes = [
        {"id": "s", "description": "src", "parallelism": 1, "inputs": []},
        {
            "id": "w",
            "description": "work",
            "parallelism": parallelism,
            "inputs": [{"id": "s", "ship_strategy": "HASH"}],
        },
    ]
    return running({"name": "x", "nodes": nodes}, "x")


WORK: Vertex = plan().vertices[1]
SOURCE: Vertex = plan().vertices[0]


def dumps(shares: dict[str, float], count: int = 5, every_s: float = 10.0) -> list[dict[str, Dump]]:
    """Return dumps of one TaskManager, whose threads use these shares of a core."""
    return [
        {
            "tm": {
                name: Spent(1.0 + share * i * every_s, 9.0 + i * every_s)
                for name, share in shares.items()
            }
        }
        for i in range(count)
    ]


def test_the_cores_that_a_vertex_uses() -> None:
    found = cpu_times(
        WORK, "work", ["tm", "tm"], dumps({"work (1/2)#0": 0.2, "work (2/2)#1": 0.3, "work": 9.0})
    )
    assert found.value == pytest.approx(0.5)
    assert found.how == "measured"


def test_threads_that_fetch_for_a_source_count() -> None:
    fetches = "Source Data Fetcher for Source: src (1/1)#0"
    found = cpu_times(
        SOURCE, "Source: src", ["tm"], dumps({"Source: src (1/1)#0": 0.1, fetches: 0.05})
    )
    assert found.value == pytest.approx(0.15)


@pytest.mark.parametrize(
    ("shares", "count", "why"),
    [
        ({"work (1/2)#0": 0.2}, 5, "no thread 'work (2/2)#…'"),
        ({"work (1/2)#0": 0.2, "work (2/2)#0": 0.1, "work (2/2)#1": 0.1}, 5, "several"),
        ({"work (1/2)#0": 0.2, "work (2/2)#0": 0.1}, 1, "fewer than two thread dumps"),
    ],
)
def test_what_cannot_be_measured(shares: dict[str, float], count: int, why: str) -> None:
    found = cpu_times(WORK, "work", ["tm", "tm"], dumps(shares, count))
    assert found.value is None
    assert why in found.why


def test_dumps_before_a_restart_do_not_count() -> None:
    before = dumps({"work (1/2)#0": 9.0, "work (2/2)#0": 9.0}, 3)
    after = dumps({"work (1/2)#1": 0.2, "work (2/2)#1": 0.3}, 3)
    found = cpu_times(WORK, "work", ["tm", "tm"], before + after)
    assert found.value == pytest.approx(0.5)
    lone = cpu_times(WORK, "work", ["tm", "tm"], before + after[:1])
    assert "started again" in lone.why
    behind = dumps({"work (1/2)#1": 0.9, "work (2/2)#1": 0.9}, 3, every_s=100.0)
    found = cpu_times(WORK, "work", ["tm", "tm"], behind + after)
    assert found.value == pytest.approx(0.5)


def test_costs_are_cpu_times_over_tuples() -> None:
    """The threads wait nine tenths of the busy time for a core."""
    readings = [
        Reading(
            100.0 + i,
            {
                "s": Counters(records_out=1e3 + 50.0 * i, busy_ms=900.0 * i, backpressured_ms=0.0),
                "w": Counters(records_in=1e3 + 50.0 * i, records_out=0.0, busy_ms=900.0 * i),
            },
        )
        for i in range(8)
    ]
    usable = usable_readings(readings)
    used = {"s": Estimate(0.05, 0.001, intervals=4), "w": Estimate(0.5, 0.01, intervals=4)}
    found = {each.name: each.instructions for each in fit(plan(), usable, 100.0, used).operators}
    assert found["work"].value == pytest.approx(0.5 / 50 * 100e6)
    assert found["work"].error == pytest.approx(0.01 / 50 * 100e6)
    assert found["src"].value == pytest.approx(0.05 / 50 * 100e6)
    busy = {each.name: each.instructions for each in fit(plan(), usable, 100.0).operators}
    assert busy["work"].value == pytest.approx(0.9 / 50 * 100e6)
    lost = {each.name: each.instructions for each in fit(plan(), usable, 100.0, {}).operators}
    assert lost["work"].why == "no thread dump has its CPU time"


def test_a_command_is_run_for_every_task_manager(tmp_path: Path) -> None:
    for host in ("a", "b 2"):
        (tmp_path / host).write_text(JAVA_21.replace("main", host))
    taken = ThreadDumps(f"cat {shlex.quote(str(tmp_path))}/{{}}", 5)
    assert taken.is_due()
    assert taken.take(["b 2", "a", "a"]) == {
        "a": {"a": Spent(0.001, 2.0)},
        "b 2": {"b 2": Spent(0.001, 2.0)},
    }
    assert not taken.is_due()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("false", "false failed with 1"),
        ("no-such-command {}", "cannot run no-such-command tm: No such file"),
        ("sleep 9", "sleep 9: no end within 0.2 s"),
        ("echo {}", "echo tm: no thread with a CPU time in 'tm'"),
    ],
)
def test_faults_of_the_command(command: str, message: str) -> None:
    with pytest.raises(BackendError, match=message):
        ThreadDumps(command, 0.2).take(["tm"])


def test_commands_that_cannot_be_read() -> None:
    with pytest.raises(UsageError, match="is not a command: No closing quotation"):
        ThreadDumps("jcmd 'x", 1)
    with pytest.raises(UsageError, match="is empty"):
        ThreadDumps(" ", 1)


SPIN = """
public class Spin {
    public static void main(String[] args) throws Exception {
        Thread one = new Thread(() -> {
            long x = 1;
            while (x != 0) {
                x += 2;
            }
        });
        one.setName("work (1/1)#0");
        one.setDaemon(true);
        one.start();
        System.out.println("ready");
        Thread.sleep(60_000);
    }
}
"""


@pytest.mark.long
@pytest.mark.skipif(shutil.which("jcmd") is None, reason="no jcmd here")
def test_threads_of_a_real_java_machine(tmp_path: Path) -> None:
    (tmp_path / "Spin.java").write_text(SPIN)
    words = ["java", str(tmp_path / "Spin.java")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as java:
        try:
            assert java.stdout is not None
            assert java.stdout.readline() == "ready\n"
            taken = ThreadDumps(f"jcmd {java.pid} Thread.print", 20)
            first = taken.take(["tm"])
            time.sleep(1.0)
            found = cpu_times(plan(1).vertices[1], "work", ["tm"], [first, taken.take(["tm"])])
        finally:
            java.kill()
    assert found.value is not None
    assert 0.05 < found.value < 1.05
