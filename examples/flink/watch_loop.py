"""The controller on a real Flink: the rate rises, a TaskManager is killed, the rate falls.

    python examples/flink/watch_loop.py FLINK_HOME [ROUNDS]

`make flink-watch` runs ten rounds, with all durations of the controller at 1/15. In each, the
controller must give the job more instances when the rate rises, leave it to Flink to recover when a
TaskManager is killed, and take instances away when the rate falls. All counts of all keys are then
compared with the truth. Gaps are the longest times without output around each change. Three
shorter rounds come first. In one, no graph is named, so that the job is measured, and a branch gets
no tuples. In another, one of four instances gets 85% of the tuples, which no plan can divide. In
the third, the adaptive scheduler runs, and a controller is killed while the job changes.
"""

import json
import os
import re
import shutil
import signal
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from cluster_config import ADAPTIVE, SMALL_BUFFERS
from local_flink import LocalFlink, TaskManager
from scripting import ScriptError, say, script
from submitted import HERE, Submitted, build, wait
from watched import CLUSTER, Controller, Output, Schedule, restarting, write_problem

from streamplace.engines.flink.watching.rescaling import REQUIRED

FOLDER = Path("flink-loop").resolve() / "watch"
MANAGERS = tuple(TaskManager(name, slots=2) for name in CLUSTER)
LOW, HIGH = 100.0, 350.0  # tuples/s
PARSE_US, COUNT_US = 2000, 5000  # for which an instance parks per tuple
SOURCES = ("WatchedJob", "Counter", "Clocked", "ShapedJob", "CountJob", "Work")
PLANNED_S, KILLED_S = 5.0, 15.0  # targets of the median gaps
UP_S, RECOVERED_S, DOWN_S = 300.0, 120.0, 600.0
IDLE = "rejected: Writer"
SKEWED, COUNTERS = 300.0, 4  # tuples/s, of which one of so many instances gets too many
UP, KILLED, DOWN = "step up", "TaskManager killed", "step down"


@dataclass
class Change:
    """What one change of a round led to.

    Parameters
    ----------
    gap_s
        The longest time without output.
    parallelism
        Numbers of instances afterwards.
    """

    kind: str
    gap_s: float
    parallelism: dict[str, int]


def one_round(flink: LocalFlink, jar: Path, number: int) -> list[Change]:
    """Start the job and the controller, and make the three changes.

    Raises
    ------
    ScriptError
        If the job does not recover, or a count is wrong.
    """
    folder = FOLDER / f"round{number}"
    schedule, output, arguments = prepared(folder)
    submitted = Submitted(flink, jar, arguments)
    job = submitted.start()
    found = []
    with Controller(flink.url, job, folder, restarting(jar, arguments)) as controller:
        controller.until("steady", within_s=200.0)
        since = schedule.set(HIGH)
        controller.until("act", within_s=UP_S)
        controller.until("steady", within_s=UP_S)
        found.append(Change(UP, output.longest_gap_s(since), counts(submitted)))
        victim = hosts(submitted)[0]
        since = kill(flink, victim)
        wait(lambda: len(submitted.running()) == 1, "the job did not recover", RECOVERED_S)
        flink.restart_task_manager(victim)
        controller.until("steady", within_s=RECOVERED_S + UP_S)
        found.append(Change(KILLED, output.longest_gap_s(since), counts(submitted)))
        since = schedule.set(LOW)
        controller.until("act", within_s=DOWN_S)
        controller.until("steady", "underused", within_s=UP_S)
        found.append(Change(DOWN, output.longest_gap_s(since), counts(submitted)))
    complete(submitted, schedule, output)
    return found


def measured_round(flink: LocalFlink, jar: Path) -> None:
    """Let the controller measure a job with a branch without tuples, and let the rate rise.

    Raises
    ------
    ScriptError
        If the job gets no more instances, or a count is wrong; if the branch is not named once, or
        its numbers of instances change.
    """
    folder = FOLDER / "measured"
    schedule, output, arguments = prepared(folder)
    arguments.append("branch")
    submitted = Submitted(flink, jar, arguments)
    job = submitted.start()
    with Controller(
        flink.url, job, folder, restarting(jar, arguments), with_graph=False
    ) as controller:
        controller.until("steady", within_s=200.0)
        schedule.set(HIGH)
        controller.until("act", within_s=UP_S)
        controller.until("steady", within_s=UP_S)
    if (times := controller.log.read_text().count(f"no tuples get to {IDLE!r}")) != 1:
        named = f"the branch without tuples was named {times} times"
        raise ScriptError(f"{named}; see {controller.log}")
    if counts(submitted)[IDLE] != 1 or counts(submitted)["count"] == 1:
        raise ScriptError(f"wrong numbers of instances: {counts(submitted)}")
    complete(submitted, schedule, output)


def skewed_round(flink: LocalFlink, jar: Path) -> None:
    """Let one instance get more tuples than it can process, and the controller do nothing.

    Raises
    ------
    ScriptError
        If the controller acts, or does not name the share of the instance, or a count is wrong.
    """
    folder = FOLDER / "skewed"
    schedule, output, arguments = prepared(folder, COUNTERS)
    arguments.append("skew")
    submitted = Submitted(flink, jar, arguments)
    job = submitted.start()
    with Controller(flink.url, job, folder, restarting(jar, arguments)) as controller:
        controller.until("steady", within_s=200.0)
        schedule.set(SKEWED)
        decision = first = controller.until("overloaded", within_s=UP_S)
        # the window of the first decision may have begun before the change
        while decision is first or "there is no plan" not in decision["reason"]:
            if decision["decision"] == "act":
                raise ScriptError(f"the controller acted: {decision['reason']}")
            decision = controller.until("nothing", "act", within_s=UP_S)
    found = re.search(rf"with (\d+)% of the tuples of its {COUNTERS} instances", decision["reason"])
    if found is None or not 80 <= int(found[1]) <= 90:
        raise ScriptError(f"the uneven share is not named: {decision['reason']}")
    complete(submitted, schedule, output)


def in_place_round(flink: LocalFlink, jar: Path) -> None:
    """Let the controller change a job under the adaptive scheduler; kill it, and start another.

    Raises
    ------
    ScriptError
        If the job is another one afterwards, or has not more instances, or a count is wrong.
    """
    folder = FOLDER / "in-place"
    schedule, output, arguments = prepared(folder)
    submitted = Submitted(flink, jar, arguments)
    job, journal = submitted.start(), folder / "journal" / "journal.jsonl"
    with Controller(flink.url, job, folder, []) as controller:
        controller.until("steady", within_s=200.0)
        since = schedule.set(HIGH)
        wait(lambda: REQUIRED in journal.read_text(), "the job was not changed", UP_S)
        controller.kill()
    with Controller(flink.url, job, folder, []) as controller:
        controller.until("steady", within_s=UP_S)
    if submitted.running() != [job] or counts(submitted)["count"] == 1:
        raise ScriptError(f"jobs {submitted.running()} instead of {job}; {counts(submitted)}")
    say(f"longest gap of a change in place: {output.longest_gap_s(since):.1f} s")
    complete(submitted, schedule, output)


def prepared(folder: Path, counters: int = 1) -> tuple[Schedule, Output, list[str]]:
    """Return the schedule of a job at the low rate, its output, and its arguments."""
    shutil.rmtree(folder, ignore_errors=True)
    schedule, output = Schedule(folder / "rates.txt"), Output(folder / "out")
    schedule.set(LOW)
    parks = [f"{PARSE_US}", f"{COUNT_US}"]
    return schedule, output, [str(schedule.path), str(output.folder), *parks, "1", f"{counters}"]


def complete(submitted: Submitted, schedule: Schedule, output: Output) -> None:
    """End the job, and check that all numbers are counted."""
    schedule.set(0.0)
    wait(lambda: output.is_complete(schedule.due()), "numbers are missing", RECOVERED_S)
    output.check()
    submitted.cancel()


def kill(flink: LocalFlink, name: str) -> float:
    """Kill a TaskManager, and return the time in seconds since 1970."""
    os.kill(flink.pids[name], signal.SIGKILL)
    return Schedule.now()


def hosts(submitted: Submitted) -> list[str]:
    """Return the TaskManagers that run instances of "count", by name."""
    (job,) = submitted.running()
    return sorted(submitted.where(job)["count"])


def counts(submitted: Submitted) -> dict[str, int]:
    """Return operator -> number of its instances."""
    (job,) = submitted.running()
    return {name: on.total() for name, on in submitted.where(job).items()}


def main(home: Path, rounds: int) -> int:
    """Run the rounds; return 0 if all are green and the median gaps are short.

    With `rounds` 0, only the shorter rounds are run.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    jar = build(FOLDER, home, SOURCES[0], [HERE / f"{name}.java" for name in SOURCES])
    write_problem(FOLDER, PARSE_US, COUNT_US)
    changes: list[Change] = []
    bad = 0
    for what, shorter, config in (
        ("without a graph, with a branch without tuples", measured_round, SMALL_BUFFERS),
        ("with uneven keys", skewed_round, SMALL_BUFFERS),
        ("under the adaptive scheduler", in_place_round, SMALL_BUFFERS + ADAPTIVE),
    ):
        with LocalFlink(home, FOLDER, MANAGERS, restarts=True, config=config) as flink:
            try:
                shorter(flink, jar)
                print(f"round {what}: green", flush=True)
            except ScriptError as error:
                bad += 1
                print(f"round {what}: FAILED: {error}", flush=True)
    for number in range(1, rounds + 1):
        with LocalFlink(home, FOLDER, MANAGERS, restarts=True, config=SMALL_BUFFERS) as flink:
            try:
                found = one_round(flink, jar, number)
            except ScriptError as error:
                bad += 1
                print(f"round {number} of {rounds}: FAILED: {error}", flush=True)
                continue
        changes += found
        shown = "; ".join(f"{each.kind}: {each.gap_s:.1f} s" for each in found)
        print(f"round {number} of {rounds}: green; longest gaps: {shown}", flush=True)
        say(json.dumps([asdict(each) for each in found]))
    (FOLDER / "changes.json").write_text(json.dumps([asdict(each) for each in changes], indent=1))
    return 1 if bad or (rounds and not short(changes)) else 0


def short(changes: Sequence[Change]) -> bool:
    """Print the median gaps, and return whether they are within the targets."""
    planned, killed = (
        statistics.median(each.gap_s for each in changes if (each.kind == KILLED) is is_kill)
        for is_kill in (False, True)
    )
    print(f"median gaps: planned {planned:.1f} s (at most {PLANNED_S:g} s), ", end="")
    print(f"killed {killed:.1f} s (at most {KILLED_S:g} s)")
    return planned <= PLANNED_S and killed <= KILLED_S


if __name__ == "__main__":
    with script("flink-watch"):
        sys.exit(main(Path(sys.argv[1]).resolve(), int((sys.argv[2:] or ["10"])[0])))
