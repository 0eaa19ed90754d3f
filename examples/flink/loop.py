"""The full loop on a real Flink: profile a job, place it, export the mapping, restart it, check.

    make flink-loop

Everything runs on this machine and writes to flink-loop/. It takes some minutes.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from against import explains
from local_flink import TIMEOUT_S, LocalFlink, equal
from scripting import call, say, script
from scripting import streamplace as run
from truth import INSTRUCTIONS, PAYLOAD_BYTES, SELECTIVITY

from streamplace.engines.flink.plan import running

HERE = Path(__file__).resolve().parent
FOLDER = Path("flink-loop").resolve()
TASK_MANAGERS = 3
LOAD = 0.5  # of a core, for all operators together, so that they rarely wait for a core
PEAK = 0.85  # share of all devices that the placed load needs
WARM_UP_S = 15
CALIBRATE_S = 10
PROFILE_S = 120
TOLERANCE = {"instructions": 0.25, "payload": 0.05, "selectivity": 0.02}


def loop(home: Path) -> int:
    """Run the loop with the Flink installation at `home`; return 0 if all checks pass."""
    FOLDER.mkdir(exist_ok=True)
    job = build("SampleJob", home, [HERE / "Work.java", HERE / "SampleJob.java"])
    with LocalFlink(home, FOLDER, equal(TASK_MANAGERS)) as flink:
        say(f"Flink at {flink.url}, {TASK_MANAGERS} TaskManagers of one slot")
        with core(str(FOLDER / "SampleJob.classes"), CALIBRATE_S) as speed:
            mips = speed()
        rate = f"{LOAD * mips * 1e6 / work_of_a_source_tuple():.3g}"
        say(f"a core does {mips:,.0f} MIPS; {rate} tuples/s keep half of one busy")
        profiled, speed_ratio = profile(flink, job, rate, mips)
        placed = place(mips)
        helper = FOLDER / "StreamplaceMapping.java"
        job = build("PlacedJob", home, [*HERE.glob("*.java"), helper])
        say("restarting the job with the mapping")
        id_ = flink.run(job, [rate, str(FOLDER / "mapping.properties")])
        hits, count = where_it_runs(flink, id_, placed)
        explained = explains(flink, id_, FOLDER, placed)
        flink.cancel(id_)
    print(f"operators placed as exported: {hits} of {count}, {hits / count:.0%}")
    close = [report(what, errors) for what, errors in differences(profiled, speed_ratio).items()]
    return 0 if hits == count and all(close) and explained else 1


def build(main: str, home: Path, sources: Sequence[Path]) -> Path:
    """Compile a job and return its jar."""
    classes, jar = FOLDER / f"{main}.classes", FOLDER / f"{main}.jar"
    java = ["javac", "-nowarn", "-d", str(classes), "-cp", f"{home / 'lib'}/*"]
    call([*java, *map(str, sources)])
    call(["jar", "--create", f"--file={jar}", f"--main-class={main}", "-C", str(classes), "."])
    return jar


def profile(flink: LocalFlink, job: Path, rate: str, mips: float) -> tuple[dict[str, Any], float]:
    """Run the job without a mapping and profile it.

    Returns
    -------
    profile
        The output of ``streamplace profile``, with instructions computed from `mips`.
    speed_ratio
        Speed of a core during the profile ÷ `mips`; cores of shared machines vary in speed.
    """
    id_ = flink.run(job, [rate])
    say(f"job {id_} runs; warming up for {WARM_UP_S} s")
    time.sleep(WARM_UP_S)
    say(f"profiling for {PROFILE_S} s")
    options = ["--job", id_, "--mips", f"{mips}", "--seconds", f"{PROFILE_S}"]
    files = ["-o", str(FOLDER / "graph.json"), "--placement", str(FOLDER / "now.json")]
    before = flink.on_cores(INSTRUCTIONS)
    with core(str(FOLDER / "SampleJob.classes"), PROFILE_S) as speed:
        output = streamplace("profile", "flink", flink.url, *options, *files, "--json")
        speed_ratio = speed() / mips
    ran, waited = (b - a for a, b in zip(before, flink.on_cores(INSTRUCTIONS), strict=True))
    if ran:  # waiting counts as busy, so instructions are too high on a busy machine
        say(f"operators ran on cores for {ran:.1f} s and waited for a core for {waited:.1f} s")
    (FOLDER / "profile.json").write_text(output)
    measured: dict[str, Any] = json.loads(output)
    say(f"during the profile, a core did {speed_ratio * mips:,.0f} MIPS")
    flink.cancel(id_)
    return measured, speed_ratio


@contextmanager
def core(classes: str, seconds: float) -> Iterator[Callable[[], float]]:
    """Measure a core for some seconds; yield a function that waits for its speed in MIPS."""
    command = ["java", "-cp", classes, "Work", str(seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield lambda: float(process.communicate(timeout=seconds + TIMEOUT_S)[0])
        finally:
            process.kill()


def place(mips: float) -> dict[str, str]:
    """Place the profiled graph and export it; return operator -> device."""
    peak = PEAK * TASK_MANAGERS * mips * 1e6 / work_of_a_source_tuple()
    placement = str(FOLDER / "placement.json")
    say(f"placing the job for {peak:.0f} tuples/s on {TASK_MANAGERS} devices")
    devices = ["--devices", f"{TASK_MANAGERS}x{mips}", "--source-rate", f"{peak}"]
    graph = str(FOLDER / "graph.json")
    print(streamplace("place", graph, *devices, "--whole-operators", "-o", placement), end="")
    for kind, name in (
        ("flink", "mapping.properties"),
        ("flink-helper", "StreamplaceMapping.java"),
    ):
        streamplace("export", placement, "--to", kind, "-o", str(FOLDER / name))
    assignment: dict[str, str] = json.loads(Path(placement).read_text())["assignment"]
    return assignment


def work_of_a_source_tuple() -> float:
    """Return the instructions of all operators per tuple of the source.

    The true numbers are used here only to choose the loads to run and to place for.
    """
    tuples = {"Source: events": 1.0}
    for (source, target), selectivity in SELECTIVITY.items():  # upstream first
        tuples[target] = tuples.get(target, 0.0) + tuples[source] * selectivity
    return sum(INSTRUCTIONS[name] * count for name, count in tuples.items())


def where_it_runs(flink: LocalFlink, job: str, placed: Mapping[str, str]) -> tuple[int, int]:
    """Return how many operators run as placed, and how many there are.

    The devices are equal, so any TaskManager may stand for any device.
    """
    plan = running(flink.get(f"/jobs/{job}/plan")["plan"], flink.url)
    host: dict[str, str] = {}
    for vertex in plan.vertices:
        subtasks = flink.get(f"/jobs/{job}/vertices/{vertex.id}")["subtasks"]
        for name in vertex.operators:
            host[name] = " ".join(sorted({task["taskmanager-id"] for task in subtasks}))
    stands_for: dict[str, str] = {}
    for name, device in placed.items():
        if host.get(name) not in stands_for.values():
            stands_for.setdefault(device, host.get(name, "nowhere"))
    for device, task_manager in sorted(stands_for.items()):
        here = [name for name in placed if host.get(name) == task_manager]
        print(f"{device} is {task_manager}: {', '.join(here)}")
    hits = [name for name, device in placed.items() if host.get(name) == stands_for.get(device)]
    return len(hits), len(placed)


def differences(measured: Mapping[str, Any], speed_ratio: float) -> dict[str, dict[str, float]]:
    """Return the relative error of each number: measured ÷ true - 1; 1 if it is missing.

    Parameters
    ----------
    speed_ratio
        Speed of a core during the profile ÷ the speed passed to the profile.
    """
    operators = {each["name"]: each for each in measured["operators"]}
    streams = {(each["source"], each["target"]): each for each in measured["streams"]}

    def errors_of(
        rows: Mapping[Any, Any], number: str, truth: Mapping[Any, float], scale: float = 1.0
    ) -> dict[str, float]:
        errors = {}
        for name, true in truth.items():
            value = rows.get(name, {}).get(number, {}).get("value")
            key = name if isinstance(name, str) else " -> ".join(name)
            errors[key] = 1.0 if value is None else value * scale / true - 1
        return errors

    return {
        "instructions": errors_of(operators, "instructions", INSTRUCTIONS, speed_ratio),
        "payload": errors_of(operators, "payload_bytes", PAYLOAD_BYTES),
        "selectivity": errors_of(streams, "selectivity", SELECTIVITY),
    }


def report(what: str, errors: Mapping[str, float]) -> bool:
    """Print the errors of one kind of number; return whether they are small enough."""
    near = all(abs(error) <= TOLERANCE[what] for error in errors.values())
    listed = ", ".join(f"{name} {error:+.1%}" for name, error in errors.items())
    worst = max(abs(error) for error in errors.values())
    verdict = f"within {TOLERANCE[what]:.0%}" if near else f"NOT within {TOLERANCE[what]:.0%}"
    print(f"measured against true {what}: at most {worst:.1%} error, {verdict} ({listed})")
    return near


def streamplace(*arguments: str) -> str:
    """Run a command of streamplace and return its stdout."""
    say("streamplace " + " ".join(arguments))
    return run(*arguments)


if __name__ == "__main__":
    with script("flink-loop"):
        sys.exit(loop(Path(sys.argv[1]).resolve()))
