"""Blocks of GNU Radio pinned by streamplace, beside the kernel's scheduler.

    make gnuradio-loop

Two flowgraphs run on the cores of this machine: as the kernel schedules their threads, with a core
for each block in turn, and as streamplace places them after a profile. The three alternate, and
take turns at being first. A run that was interrupted goes on where it stopped.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from scripting import ScriptError, streamplace
from streamplace.integrations.gnuradio.grc import cores_of, helper_source

from benchmarks.commit import running_commit
from benchmarks.flowgraphs.flows import filter_bank, receiver, write_samples
from benchmarks.flowgraphs.tables import KERNEL, OURS, ROUND_ROBIN, TABLE, WAYS, page
from benchmarks.result_lines import Results
from benchmarks.testbed.commands import exit_code
from streamplace.files.writing import write_text
from streamplace.formats.yaml import to_yaml

PYTHON = "/usr/bin/python3"  # Debian's, which has GNU Radio
MIPS = 1000.0  # of a core; any unit will do
ENDLESS = 1e12  # items/s, which no source emits
REPEATS = 5
START_S = 120.0


def main() -> int:
    """Run what is missing, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "-o", type=Path, default=Path("gnuradio-loop"), dest="folder", help="output folder"
    )
    parser.add_argument("--repeats", type=int, default=REPEATS, help=f"default: {REPEATS}")
    parser.add_argument("--seconds", type=float, default=20.0, help="of a run; default: 20")
    asked = parser.parse_args()
    if shutil.which("grcc") is None or not Path(PYTHON).exists():
        print("gnuradio-loop: skipped, because this machine lacks GNU Radio (apt-get install)")
        return 0
    folder = asked.folder.resolve()
    return exit_code(
        lambda: campaign(folder, asked.repeats, asked.seconds),
        name="gnuradio-loop",
        others=(ScriptError,),
    )


def campaign(folder: Path, repeats: int, seconds: float) -> int:
    """Run both flowgraphs in all ways, several times in turn; return 0 if all are pinned."""
    cores = [f"core{number}" for number in sorted(os.sched_getaffinity(0))]
    results = Results(folder, {"cores": len(cores), "seconds": seconds})
    write_text(folder / "streamplace_counters.py", helper_source())
    write_samples(folder / "recorded.iq")
    devices = [{"name": name, "mips": MIPS} for name in cores]
    cluster = {"format": "streamplace-cluster", "version": 1, "devices": devices}
    (folder / "cluster.json").write_text(json.dumps({**cluster, "network": {"kind": "free"}}))
    placed = {
        name: compiled(folder / name, document, cores, seconds)
        for name, document in (
            ("filter_bank", filter_bank()),
            ("receiver", receiver(folder / "recorded.iq")),
        )
    }
    done = {(row["repeat"], row["way"], row["flowgraph"]) for row in results.rows()}
    for repeat in range(repeats):
        for name, ways in placed.items():
            first = repeat % len(WAYS)
            for way in (*WAYS[first:], *WAYS[:first]):
                if (repeat, way, name) not in done:
                    rate, pinned = run(folder / name, way, ways[way], seconds)
                    row = {"repeat": repeat, "way": way, "flowgraph": name, "rate": rate}
                    results.add({**row, "as_placed": pinned, "commit": running_commit()})
                    print(f"repeat {repeat}, {way}, {name}: {rate:,.0f} items/s")
    rows = results.rows()
    write_text(folder / TABLE, page(rows, len(cores)))
    print((folder / TABLE).read_text())
    return 0 if all(row["as_placed"] for row in rows) else 1


def compiled(
    own: Path, document: dict[str, Any], cores: list[str], seconds: float
) -> dict[str, dict[str, str]]:
    """Compile a flowgraph in all ways; return way -> the device of each block that has one."""
    program(own, KERNEL, to_yaml([document]))
    names = [each["name"] for each in document["blocks"]]
    turns = {name: cores[i % len(cores)] for i, name in enumerate(names)}
    for block in document["blocks"]:
        block["parameters"]["affinity"] = str(cores_of(turns[block["name"]]))
    program(own, ROUND_ROBIN, to_yaml([document]))
    graph, placement = own / "graph.json", own / "placement.json"
    if not placement.exists():
        run(own, KERNEL, {}, seconds)
        counters = str(own / KERNEL / "counters.jsonl")
        streamplace("profile", "gnuradio", counters, "--mips", f"{MIPS:g}", "-o", str(graph))
        command = ["place", str(graph), "--cluster", str(own.parent / "cluster.json")]
        streamplace(*command, "--source-rate", f"{ENDLESS:g}", "-o", str(placement))
    pinned = own / "pinned.grc"
    patch = ["--patch", str(own / KERNEL / f"{own.name}.grc"), "-o", str(pinned)]
    streamplace("export", str(placement), "--to", "gnuradio", *patch)
    program(own, OURS, pinned.read_text())
    return {KERNEL: {}, ROUND_ROBIN: turns, OURS: json.loads(placement.read_text())["assignment"]}


def program(own: Path, way: str, text: str) -> None:
    """Write a flowgraph, and compile it unless that has been done."""
    folder = own / way
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{own.name}.grc"
    if file.exists() and file.read_text() == text:
        return
    file.write_text(text)
    made = subprocess.run(
        ["grcc", str(file), "-o", str(folder)], capture_output=True, text=True, check=False
    )
    if made.returncode or not file.with_suffix(".py").exists():
        file.unlink()
        raise ScriptError(f"grcc: {(made.stdout + made.stderr)[-2000:]}")


def run(own: Path, way: str, devices: dict[str, str], seconds: float) -> tuple[float, bool]:
    """Run a flowgraph; return the items/s of its source, and whether it is pinned as asked."""
    folder = own / way
    counters = folder / "counters.jsonl"
    counters.unlink(missing_ok=True)
    command = [PYTHON, str(own.parent / "streamplace_counters.py"), str(counters)]
    with subprocess.Popen(
        [*command, str(folder / f"{own.name}.py")],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            until = time.monotonic() + START_S
            while not counters.exists() or len(counters.read_text().splitlines()) < 2:
                if process.poll() is not None or time.monotonic() > until:
                    raise ScriptError(f"{own.name}, {way}: has not started")
                time.sleep(0.1)
            time.sleep(seconds)
            head, *rows = map(json.loads, counters.read_text().splitlines())
            pinned = all(
                os.sched_getaffinity(thread) == set(cores_of(devices[name]))
                for name, threads in head["threads"].items()
                if name in devices
                for thread in threads
            )
        finally:
            process.terminate()
    fed = {each["target"] for each in head["streams"]}
    e = next(e for e, each in enumerate(head["streams"]) if each["source"] not in fed)
    first, last = rows[len(rows) // 3], rows[-1]
    return (last["items"][e] - first["items"][e]) / (last["at_s"] - first["at_s"]), pinned


if __name__ == "__main__":
    sys.exit(main())
