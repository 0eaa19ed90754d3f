"""CPU times of tasks from thread dumps."""

import shlex
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from streamplace.engines.flink.cpu_times import HELPERS, Dump, Spent, ThreadDumps, cpu_times
from streamplace.engines.flink.fit import fit
from streamplace.engines.flink.plan import RunningPlan, running
from streamplace.engines.flink.poll import Watch, cpu_times_of
from streamplace.formats.profiling.counters import Counters, Reading, usable_readings
from streamplace.formats.profiling.estimates import Estimate
from streamplace.formats.profiling.rest import Server
from tests.support.flink_api import JOB_ID, SampleJob, serving
from tests.support.guards import hang_guard

EVERY_S = 10.0


def dumps(
    shares: dict[str, float], count: int = 5, *, number: int = 7, every_s: float = EVERY_S
) -> list[dict[str, Dump]]:
    """Return dumps of one TaskManager, whose threads use these shares of a core."""
    return [
        {
            "tm": {
                name: {number: Spent(1.0 + share * i * every_s, 9.0 + i * every_s)}
                for name, share in shares.items()
            }
        }
        for i in range(count)
    ]


def both(
    first: Sequence[dict[str, Dump]], second: Sequence[dict[str, Dump]]
) -> list[dict[str, Dump]]:
    """Return dumps that have the threads of two lists, of which the shorter one ends earlier."""
    longer, shorter = sorted((first, second), key=len, reverse=True)
    found: list[dict[str, Dump]] = []
    for i, dump in enumerate(longer):
        more = shorter[i]["tm"] if i < len(shorter) else {}
        names = dump["tm"].keys() | more.keys()
        found.append({"tm": {n: {**dump["tm"].get(n, {}), **more.get(n, {})} for n in names}})
    return found


def of(taken: Sequence[dict[str, Dump]], title: str = "work", subtasks: int = 2) -> Estimate:
    """Return the estimate of a vertex on one TaskManager."""
    return cpu_times(title, ["tm"] * subtasks, taken)


def test_the_cores_that_a_vertex_uses() -> None:
    found = of(dumps({"work (1/2)#0": 0.2, "work (2/2)#1": 0.3, "work": 9.0, "work (1/20)#0": 1.0}))
    assert found.value == pytest.approx(0.5)
    assert found.how == "measured"
    assert found.intervals == 4


def test_every_subtask_has_the_thread_of_its_own_task_manager() -> None:
    """Another vertex of the same name has its subtasks the other way round."""
    names = {"work (1/2)#0": 0.2, "work (2/2)#0": 0.9}, {"work (1/2)#0": 0.8, "work (2/2)#0": 0.3}
    taken = [
        {"a": first["tm"], "b": second["tm"]}
        for first, second in zip(*map(dumps, names), strict=True)
    ]
    assert cpu_times("work", ["a", "b"], taken).value == pytest.approx(0.5)


@pytest.mark.parametrize("helper", HELPERS)
def test_other_threads_of_a_source_count(helper: str) -> None:
    name = "Source: src (1/1)#0"
    found = of(dumps({name: 0.1, helper + name: 0.05, helper + "Source: x": 1.0}), "Source: src", 1)
    assert found.value == pytest.approx(0.15)


def test_several_fetchers_of_a_source_count() -> None:
    name = "src (1/1)#0"
    taken = both(dumps({name: 0.1}), dumps({f"{HELPERS[1]}{name}": 0.2}, number=8))
    taken = both(taken, dumps({f"{HELPERS[1]}{name}": 0.3}, number=9))
    assert of(taken, "src", 1).value == pytest.approx(0.6)


def test_fetchers_may_start_and_end() -> None:
    name = "src (1/1)#0"
    taken = both(dumps({name: 0.1}), dumps({f"{HELPERS[1]}{name}": 0.2}, 3, number=8))
    late: dict[str, Dump] = {
        "tm": {**taken[4]["tm"], f"{HELPERS[1]}{name}": {9: Spent(0.2 * EVERY_S, 10.0)}}
    }
    found = of([*taken[:4], late], "src", 1)
    assert found.value == pytest.approx(0.1 + 0.15, rel=0.05)  # 6 of 40 s


@pytest.mark.parametrize("printed", ["z?hler (1/1)#0", "z\ufffdhler (1/1)#0", "zähler (1/1)#0"])
def test_characters_that_the_locale_of_java_lacks(printed: str) -> None:
    assert of(dumps({printed: 0.3}), "zähler", 1).value == pytest.approx(0.3)


def test_exact_names_come_first() -> None:
    taken = dumps({"窗口 (1/1)#0": 0.3, "口窗 (1/1)#0": 0.9})
    assert of(taken, "窗口", 1).value == pytest.approx(0.3)
    assert "has 2 threads" in of(dumps({"?? (1/1)#0": 0.3, "? (1/1)#0": 0.3}), "窗口", 1).why


def test_patterns_in_names_mean_nothing() -> None:
    title = 'a.*(b) [1]: \\d+ "x" -> ?'
    assert of(dumps({f"{title} (1/1)#0": 0.3, "axx (1/1)#0": 1.0}), title, 1).value is not None
    assert "has no thread" in of(dumps({"axb 1: 5 (1/1)#0": 0.3}), title, 1).why


@pytest.mark.parametrize(
    ("shares", "count", "why"),
    [
        ({"work (1/2)#0": 0.2}, 5, "of tm has no thread 'work (2/2)#…'; it has moved or ended"),
        ({"work (1/2)#0": 0.2, "work (2/2)#0": 0.1, "work (2/2)#1": 0.1}, 5, "has 2 threads"),
        ({"work (1/2)#0": 0.2, "work (2/2)#0": 0.1}, 1, "fewer than two thread dumps"),
    ],
)
def test_what_cannot_be_measured(shares: dict[str, float], count: int, why: str) -> None:
    found = of(dumps(shares, count))
    assert found.value is None
    assert why in found.why


def test_vertices_of_the_same_name_on_one_task_manager() -> None:
    taken = both(dumps({"Map (1/1)#0": 0.2}), dumps({"Map (1/1)#0": 0.3}, number=8))
    assert (
        "has 2 threads 'Map (1/1)#…'; names of operators have to differ" in of(taken, "Map", 1).why
    )


def test_subtasks_that_did_not_run() -> None:
    taken = dumps({"work (1/2)#0": 0.2})
    found = cpu_times("work", ["tm", "(unassigned)"], taken)
    assert found.why == "'work (2/2)#…' did not run when the measurement began"
    assert cpu_times("work", [], taken).why == "it did not run when the measurement began"


def test_dumps_before_a_restart_do_not_count() -> None:
    before = dumps({"work (1/2)#0": 9.0, "work (2/2)#0": 9.0}, 3)
    after = dumps({"work (1/2)#1": 0.2, "work (2/2)#1": 0.3}, 3)
    assert of(before + after).value == pytest.approx(0.5)
    assert "started again" in of(before + after[:1]).why
    again = dumps({"work (1/2)#1": 9.0, "work (2/2)#1": 9.0}, 3, number=6)
    assert of(again + after).value == pytest.approx(0.5)


def test_dumps_of_an_earlier_machine_do_not_count() -> None:
    """A TaskManager with a fixed id has started again, and numbers its threads anew."""
    before = dumps({"work (1/1)#0": 0.9}, 3, every_s=100.0)
    assert of(before + dumps({"work (1/1)#0": 0.2}, 3), "work", 1).value == pytest.approx(0.2)


def test_dumps_of_the_same_moment() -> None:
    assert "do not go on" in of(dumps({"work (1/1)#0": 0.2}, 1) * 2, "work", 1).why


def plan() -> RunningPlan:
    nodes = [
        {"id": "s", "description": "src", "parallelism": 1, "inputs": []},
        {
            "id": "w",
            "description": "work",
            "parallelism": 2,
            "inputs": [{"id": "s", "ship_strategy": "HASH"}],
        },
    ]
    return running({"name": "x", "nodes": nodes}, "x")


def readings(count: int) -> list[Reading]:
    """Return readings of a job whose threads wait nine tenths of the busy time for a core."""
    return usable_readings(
        [
            Reading(
                100.0 + i,
                {
                    "s": Counters(records_out=1e3 + 50.0 * i, busy_ms=900.0 * i),
                    "w": Counters(records_in=1e3 + 50.0 * i, records_out=0.0, busy_ms=900.0 * i),
                },
            )
            for i in range(count)
        ]
    )


def costs(count: int, cpu: dict[str, Estimate] | None) -> dict[str, Estimate]:
    """Return operator -> its instructions per tuple."""
    found = fit(plan(), readings(count), 100.0, cpu).operators
    return {each.name: each.instructions for each in found}


def test_costs_are_cpu_times_over_tuples() -> None:
    used = {"s": Estimate(0.05, 0.001, intervals=4), "w": Estimate(0.5, 0.01, intervals=4)}
    found = costs(8, used)
    assert found["work"].value == pytest.approx(0.5 / 50 * 100e6)
    assert found["work"].error == pytest.approx(0.01 / 50 * 100e6)
    assert found["src"].value == pytest.approx(0.05 / 50 * 100e6)
    assert costs(8, None)["work"].value == pytest.approx(0.9 / 50 * 100e6)
    assert costs(8, {})["work"].why == "no thread dump has its CPU time"
    assert costs(8, {"w": Estimate.missing("no thread")})["work"].why == "no thread"
    assert "increase --seconds" in costs(1, used)["work"].why


def test_a_chain_has_one_thread_for_all_its_operators() -> None:
    node = {"id": "s", "description": "src<br/>+- work<br/>", "parallelism": 1}
    chained = running({"name": "x", "nodes": [node]}, "x")
    emitted = [
        replace(each, operators={"src": Counters(records_out=each.vertices["s"].records_out)})
        for each in readings(8)
    ]
    found = fit(chained, emitted, 100.0, {"s": Estimate(0.5, 0.01, intervals=4)}).operators
    assert found[0].instructions.value == pytest.approx(0.5 / 50 * 100e6)
    assert found[1].instructions.why == "chained: it is a part of that of 'src'"


QUARTER_OF_A_CORE = """\
awk -v s="$(date +%s.%N)" '{
    e = s - 1.6e9
    printf "\\"%s (1/1)#0\\" #%d cpu=%.2fms elapsed=%.2fs x\\n", $0, NR, 250 * e, e
}'"""


def test_costs_of_a_job_by_a_command(tmp_path: Path) -> None:
    job, names = SampleJob(speed=20), tmp_path / "names"
    names.write_text("".join(f"{vertex['name']}\n" for vertex in job.job["vertices"]))
    command = shlex.join(["sh", "-c", f"{QUARTER_OF_A_CORE} {shlex.quote(str(names))}"])
    with serving(job) as url, hang_guard():
        taken = ThreadDumps(command, 60.0)
        watched = Watch(Server(url), JOB_ID, 60.0, every_s=0.1, thread_dumps=taken).run(1.5)
    found = fit(watched.plan, watched.readings, 1000.0, cpu_times_of(watched)).operators
    op = next(each for each in found if each.name == "OP1")
    assert watched.fault == ""
    assert op.instructions.value is not None
    assert op.rate.value is not None
    assert op.instructions.value * op.rate.value == pytest.approx(0.25e9, rel=0.05)


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
            found = of([first, taken.take(["tm"])], "work", 1)
        finally:
            java.kill()
    assert found.value is not None
    assert 0.05 < found.value < 1.05
