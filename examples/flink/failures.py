"""Failures injected into `streamplace apply flink`; after each, a job runs with all its state.

    python examples/flink/failures.py FLINK_HOME [NAME …]

`make flink-failures` runs all of them. Each starts from a running job, and ends with the same
checks: exactly one job runs, all of its tasks run, and the counts of every key are complete.
"""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from apply_loop import FOLDER, RATE, prepare
from counting import Counting
from local_flink import LocalFlink
from scripting import ScriptError, say, script
from submitted import HERE, build, wait
from trial import APPLIED, FAILED, REFUSED, Trial

from streamplace.engines.flink.groups import groups_of
from streamplace.engines.flink.slot_groups import mapping
from streamplace.files import read_placement

CONFIG = "execution.checkpointing.timeout: 15 s\n"
BEFORE_STOP, STOPPED, STARTING = "stopping job", "stopped after", "starting job"


def hung_savepoint(trial: Trial) -> None:
    """Let the savepoint hang until Flink gives it up."""
    trial.replays = True  # Flink goes back to a checkpoint when it gives up
    with trial.file("blocked"):
        trial.apply(expected=FAILED, words="still runs")


def slow_savepoint(trial: Trial) -> None:
    """Let the savepoint end after the deadline."""
    path = trial.counting.out / "blocked"
    path.touch()
    code, text = trial.follow({"has not ended after 3 s": lambda pid: path.unlink()})
    if code != APPLIED:
        raise ScriptError(f"exit code {code}: {text}")


def interrupted_hung_savepoint(trial: Trial) -> None:
    """Press Ctrl-C while the savepoint hangs."""
    with trial.file("blocked"):
        text = trial.signalled(signal.SIGINT, "has not ended after")
        if "if its savepoint" not in text:
            raise ScriptError(text)
    time.sleep(3)
    trial.again()


def unwritable_folder(trial: Trial) -> None:
    """Name a folder in which no savepoint can be written."""
    trial.apply("--savepoint-dir", "file:///proc/none", expected=FAILED, words="still runs")


def unknown_label(trial: Trial) -> None:
    """Place on a device whose label no TaskManager has."""
    wrong = FOLDER / "wrong-label.json"
    text = trial.placements["whole"].read_text()
    wrong.write_text(text.replace('"slow"', '"ghost"'))
    trial.placements = {**trial.placements, "wrong": wrong}
    trial.apply(name="wrong", expected=REFUSED, words="dev_ghost")


def taken_labels(trial: Trial) -> None:
    """Let another job hold the counted labels that the placement needs."""
    trial.apply(expected=APPLIED)  # a job without a mapping takes a share of every label
    trial.job = trial.counting.running()[0]
    other = Counting(trial.flink, trial.counting.jar, FOLDER / "other", RATE)
    text = mapping(groups_of(read_placement(trial.placements["split"])))
    taker = other.submit({"streamplace.mapping": text})
    wait(lambda: taker in trial.counting.running(), "the other job did not start")
    trial.apply(name="split", expected=REFUSED, words="lacks slots")
    other.cancel([taker])


def missing_slot(trial: Trial) -> None:
    """Kill a TaskManager once the job has stopped, so that its slots are missing."""
    trial.replays = True
    acts = {
        STOPPED: lambda pid: trial.kill("slow"),
        "rolling back": lambda pid: trial.flink.restart_task_manager("slow"),
    }
    code, text = trial.follow(acts)
    if code != FAILED or "rolled back" not in text:
        raise ScriptError(f"exit code {code}: {text}")


def killed_task_manager(trial: Trial) -> None:
    """Kill a TaskManager while the job starts, and start it again."""
    trial.replays = True

    def act(pid: int) -> None:
        time.sleep(1)
        trial.kill("slow")
        trial.flink.restart_task_manager("slow")

    code, text = trial.follow({STARTING: act}, "--start-timeout", "90")
    if code not in (APPLIED, FAILED):
        raise ScriptError(f"exit code {code}: {text}")


def refused_start(trial: Trial) -> None:
    """Let the program fail when it is started."""
    with trial.file("refused"):
        trial.apply(expected=FAILED, words="rolled back")


def broken_start(trial: Trial) -> None:
    """Let an operator fail whenever it is opened."""
    with trial.file("broken"):
        trial.apply(expected=FAILED, words="rolled back")


def misplaced_start(trial: Trial) -> None:
    """Let the program ignore its mapping."""
    with trial.file("misplaced"):
        trial.apply(expected=FAILED, words="rolled back")


def jar_without_helper(trial: Trial) -> None:
    """Use a jar that does not call the helper."""
    source = FOLDER / "plain" / "CountJob.java"
    source.parent.mkdir(exist_ok=True)
    source.write_text(
        (HERE / "CountJob.java").read_text().replace("StreamplaceMapping.apply(env);", "")
    )
    jar = build(FOLDER, trial.home, "CountJob", [HERE / "Work.java", source], "Plain")
    trial.apply("--jar", str(jar), expected=REFUSED, words="does not call StreamplaceMapping")


def jar_without_uids(trial: Trial) -> None:
    """Use a jar whose operators have no uids."""
    source = FOLDER / "bare" / "CountJob.java"
    source.parent.mkdir(exist_ok=True)
    source.write_text((HERE / "CountJob.java").read_text().replace('.uid("count")', ""))
    jar = build(FOLDER, trial.home, "CountJob", [HERE / "Work.java", source], "Bare")
    trial.apply("--jar", str(jar), expected=REFUSED, words="without uid")


def lost_state(trial: Trial) -> None:
    """Insist on a jar whose stateful operator cannot find its state."""
    source = FOLDER / "bare" / "CountJob.java"
    source.parent.mkdir(exist_ok=True)
    source.write_text((HERE / "CountJob.java").read_text().replace('.uid("count")', ""))
    jar = build(FOLDER, trial.home, "CountJob", [HERE / "Work.java", source], "Bare")
    more = ("--jar", str(jar), "--without-uids")
    trial.apply(*more, expected=REFUSED, words="no operators with the ids of 'count'")


def wrong_class(trial: Trial) -> None:
    """Name a main class that the jar does not have."""
    trial.apply("--entry-class", "NoSuch", expected=REFUSED, words="NoSuch")


def wrong_jar(trial: Trial) -> None:
    """Name a jar that is neither here nor there."""
    trial.apply("--jar", "no-such.jar", expected=REFUSED, words="neither a file nor the id")


def silent_server(trial: Trial) -> None:
    """Stop the JobManager's process for a while, once the job is being stopped."""
    pid = trial.flink.pids["jobmanager"]

    def act(_: int) -> None:
        os.kill(pid, signal.SIGSTOP)
        time.sleep(7)
        os.kill(pid, signal.SIGCONT)

    trial.replays = True
    code, text = trial.follow({STOPPED: act}, "--start-timeout", "90", "--timeout", "2")
    if code != APPLIED:
        raise ScriptError(f"exit code {code}: {text}")


def signal_at(number: signal.Signals, after: str, delay_s: float = 0.0) -> Callable[[Trial], None]:
    """Return the failure of a signal after a message, with which the command is repeated."""

    def fail(trial: Trial) -> None:
        trial.signalled(number, after, delay_s)
        trial.again()

    return fail


FAILURES: dict[str, Callable[[Trial], None]] = {
    "hung-savepoint": hung_savepoint,
    "slow-savepoint": slow_savepoint,
    "interrupted-hung-savepoint": interrupted_hung_savepoint,
    "unwritable-folder": unwritable_folder,
    "unknown-label": unknown_label,
    "taken-labels": taken_labels,
    "missing-slot": missing_slot,
    "killed-task-manager": killed_task_manager,
    "refused-start": refused_start,
    "broken-start": broken_start,
    "misplaced-start": misplaced_start,
    "jar-without-helper": jar_without_helper,
    "jar-without-uids": jar_without_uids,
    "lost-state": lost_state,
    "wrong-class": wrong_class,
    "wrong-jar": wrong_jar,
    "silent-server": silent_server,
    "killed-before-stop": signal_at(signal.SIGKILL, BEFORE_STOP),
    "killed-while-stopping": signal_at(signal.SIGKILL, BEFORE_STOP, 0.2),
    "killed-stopped": signal_at(signal.SIGKILL, STOPPED),
    "killed-starting": signal_at(signal.SIGKILL, STARTING),
    "killed-started": signal_at(signal.SIGKILL, STARTING, 3.0),
    "interrupted-before-stop": signal_at(signal.SIGINT, BEFORE_STOP),
    "interrupted-while-stopping": signal_at(signal.SIGINT, BEFORE_STOP, 0.2),
    "interrupted-stopped": signal_at(signal.SIGINT, STOPPED),
    "interrupted-starting": signal_at(signal.SIGINT, STARTING),
    "interrupted-started": signal_at(signal.SIGINT, STARTING, 3.0),
    "terminated-starting": signal_at(signal.SIGTERM, STARTING, 1.0),
}


def main(home: Path, names: list[str]) -> int:
    """Inject failures; return 0 if each left a running job and its state."""
    jar, placements, managers = prepare(home)
    bad = 0
    with LocalFlink(home, FOLDER, managers, restarts=True, config=CONFIG) as flink:
        for name in names or FAILURES:
            counting = Counting(flink, jar, FOLDER / "out", RATE)
            trial = Trial(flink, counting, placements, home, counting.start())
            try:
                FAILURES[name](trial)
                wait(lambda c=counting: len(c.running()) == 1, "not one job runs", 60)
                counting.check_state(trial.replays)
                print(f"{name}: a job runs, with all its state", flush=True)
            except ScriptError as error:
                bad += 1
                print(f"{name}: FAILED: {error}", flush=True)
            for line in trial.lines:
                say(f"  {line}")
            counting.cancel()
    print(f"{len(names or FAILURES) - bad} of {len(names or FAILURES)} failures ended well")
    return 1 if bad else 0


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
    with script("failures"):
        sys.exit(main(Path(sys.argv[1]).resolve(), sys.argv[2:]))
