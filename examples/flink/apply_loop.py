"""Placements applied to a running job on TaskManagers of two speeds, round after round.

    python examples/flink/apply_loop.py FLINK_HOME [ROUNDS]

`make flink-loop` runs it after loop.py and before sql_loop.py. Each round starts the counting job
without a mapping, applies a placement of whole operators, then two that divide an operator between
both TaskManagers in different numbers, and compares where every instance runs, and the state, with
what they should be. The labels of the TaskManagers are those that any of the placements exports.
"""

import json
import sys
from pathlib import Path

from counting import NOT_CHAINED, Counting, devices_of, labels_in
from local_flink import LocalFlink, TaskManager, equal
from scripting import ScriptError, call, say, script, streamplace
from submitted import HERE, build

FOLDER = Path("flink-loop").resolve() / "apply"
SPEED = {"fast": 1.0, "slow": 0.5}
MIPS = 2000  # of the fast one; any unit will do
PROFILE_S = 30
RATE = 100
SLOTS = 4
WHOLE = {"Source: numbers": "slow", "parse": "fast", "journal: Writer": "slow"}
SPLIT = {f"count[{i}]": "slow" if i == 2 else "fast" for i in range(3)}
OTHER = {f"count[{i}]": "fast" if i == 2 else "slow" for i in range(3)}


def prepare(home: Path) -> tuple[Path, dict[str, Path], tuple[TaskManager, ...]]:
    """Profile and place the job, and return jar, placements and TaskManagers with labels."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    jar = build(FOLDER, home, "CountJob", [HERE / "Work.java", HERE / "CountJob.java"])
    graph = FOLDER / "graph.json"
    with LocalFlink(home, FOLDER, [*equal(1), TaskManager("tm1", slots=SLOTS)]) as flink:
        counting = Counting(flink, jar, FOLDER / "out", RATE)
        job = counting.start(NOT_CHAINED)
        say(f"profiling job {job} for {PROFILE_S} s")
        measured = ["--mips", f"{MIPS}", "--seconds", f"{PROFILE_S}", "-o", str(graph)]
        streamplace("profile", "flink", flink.url, "--job", job, *measured)
        counting.cancel()
    placements = {
        "whole": place(graph, "whole", WHOLE, "--whole-operators"),
        "split": place(graph, "split", {**WHOLE, **SPLIT}),
        "other": place(graph, "other", {**WHOLE, **OTHER}),
    }
    labels = labels_in(streamplace("export", str(placements["whole"]), "--to", "flink-config"))
    managers = [TaskManager(name, labels[name], speed, SLOTS) for name, speed in SPEED.items()]
    return jar, placements, tuple(managers)


def place(graph: Path, name: str, pins: dict[str, str], *more: str) -> Path:
    """Place the job on both devices with some operators pinned; return the placement file."""
    devices = [{"name": each, "mips": MIPS * speed} for each, speed in SPEED.items()]
    files = {
        "cluster": {"format": "streamplace-cluster", "version": 1, "devices": devices},
        "pins": {"pins": pins},
    }
    for kind, value in files.items():
        (FOLDER / f"{name}.{kind}.json").write_text(json.dumps(value))
    target = FOLDER / f"{name}.json"
    cluster = ["--cluster", str(FOLDER / f"{name}.cluster.json")]
    rules = ["--constraints", str(FOLDER / f"{name}.pins.json"), "--source-rate", f"{RATE}"]
    streamplace("place", str(graph), *cluster, *rules, *more, "-o", str(target))
    return target


def one_round(counting: Counting, placements: dict[str, Path]) -> None:
    """Start the job, and apply the placements.

    Raises
    ------
    ScriptError
        If an instance is not where its placement says, or state was lost.
    """
    job = counting.start()
    for name, placement in placements.items():
        answer = json.loads(call([*counting.apply_command(placement, job), "--json"]))
        job = answer["job"]
        if counting.running() != [job]:
            raise ScriptError(f"{name}: {counting.running()} run instead of {job}")
        wanted, found = devices_of(placement), counting.where(job)
        wrong = {each: found.get(each) for each, on in wanted.items() if found.get(each) != on}
        if wrong:
            raise ScriptError(f"{name}: placed {wanted}, but {wrong}")
        counting.check_state()
        listed = "; ".join(f"{each} on {dict(on)}" for each, on in sorted(wanted.items()))
        say(f"{name}: every instance runs where it was placed: {listed}")
    counting.cancel()


def main(home: Path, rounds: int) -> int:
    """Run the rounds; return 0 if all are green."""
    jar, placements, managers = prepare(home)
    for manager in managers:
        say(f"TaskManager {manager.name}: speed {manager.speed:g}, labels {dict(manager.labels)}")
    with LocalFlink(home, FOLDER, managers, restarts=True) as flink:
        for number in range(1, rounds + 1):
            one_round(Counting(flink, jar, FOLDER / "out", RATE), placements)
            print(f"round {number} of {rounds}: green", flush=True)
    return 0


if __name__ == "__main__":
    with script("apply-loop"):
        sys.exit(main(Path(sys.argv[1]).resolve(), int((sys.argv[2:] or ["5"])[0])))
