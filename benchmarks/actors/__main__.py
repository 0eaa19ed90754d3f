"""Placements of Ray actors by streamplace, beside those of Ray itself, on a real Ray.

    make ray-loop

This runs ``python -m benchmarks.actors RAY``, where RAY is a virtual environment with
``ray[default]``. Six pipelines, drawn by seed, run on three nodes of a share of a core each: as Ray
places their actors by default, with the strategy SPREAD, on random nodes, and as streamplace places
them. The four alternate, and take turns at being first. Each pipeline is profiled on the same nodes
before, with the strategy SPREAD and as many tuples as it takes. A run that was interrupted goes on
where it stopped.
"""

import argparse
import json
import random
import sys
import time
from pathlib import Path
from typing import Any

from local_ray import LocalRay, RayError
from scripting import ScriptError, streamplace

from benchmarks.actors.pipelines import counts, pipeline, work_rate, write_graph
from benchmarks.actors.tables import OURS, TABLE, WAYS, page
from benchmarks.commit import ROOT, running_commit
from benchmarks.contention.jobs import SEED, SpinningJob, drawn
from benchmarks.exit_codes import exit_code
from benchmarks.result_lines import Results
from benchmarks.testbed.emulator import swept
from benchmarks.testbed.facilities import lacking
from benchmarks.testbed.groups import Group
from benchmarks.testbed.ownership import own_prefix
from streamplace.files.writing import write_text
from streamplace.problem.logical import instance_names

DEVICES = ("d0", "d1", "d2")
SHARE = 0.4  # of a core for each
MIPS = 1000.0  # of a core; any unit will do
REPEATS = 3
ENDLESS = 1e6  # tuples/s, which the source does not take
STARTED_S, IDLE_S, PROFILE_S, WARM_UP_S, MEASURED_S = 20.0, 20.0, 60.0, 15.0, 20.0
PIPELINE = ROOT / "examples" / "ray" / "pipeline.py"


def main() -> int:
    """Run what is missing, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("home", type=Path, help="virtual environment with ray[default]")
    parser.add_argument(
        "-o", type=Path, default=Path("ray-loop"), dest="folder", help="output folder"
    )
    parser.add_argument("--repeats", type=int, default=REPEATS, help=f"default: {REPEATS}")
    asked = parser.parse_args()
    if missing := lacking():
        print(f"ray-loop: skipped, because this machine lacks: {', '.join(missing)}")
        return 0
    home, folder = asked.home.absolute(), asked.folder.resolve()
    return exit_code(
        lambda: campaign(home, folder, asked.repeats),
        name="ray-loop",
        others=(RayError, ScriptError),
    )


@swept()
def campaign(home: Path, folder: Path, repeats: int) -> int:
    """Run all pipelines in all ways, several times in turn; return 0 if all run as placed."""
    settings = {"seed": SEED, "share": SHARE, "mips": MIPS, "profiled_at": ENDLESS}
    results, jobs = Results(folder, settings), drawn()
    groups = {name: Group(f"{own_prefix()}{name}", None) for name in DEVICES}
    files = {
        name: [each / "cgroup.procs" for each in group.folders] for name, group in groups.items()
    }
    with LocalRay(home, folder / "logs", DEVICES, files) as cluster:
        limit(groups, SHARE)
        time.sleep(STARTED_S)
        used = {name: group.used_s() for name, group in groups.items()}
        time.sleep(IDLE_S)
        free = {n: SHARE - (g.used_s() - used[n]) / IDLE_S for n, g in groups.items()}
        for job in jobs:
            profiled(cluster, job, folder / job.name.replace(" ", "-"))
        done = {(row["repeat"], row["way"], row["job"]) for row in results.rows()}
        for repeat in range(repeats):
            for job in jobs:
                for way in (*WAYS[repeat % len(WAYS) :], *WAYS[: repeat % len(WAYS)]):
                    if (repeat, way, job.name) not in done:
                        row = run(cluster, job, way, folder, free, repeat)
                        made = {"commit": running_commit(), "free": free}
                        results.add({"repeat": repeat, "way": way, "job": job.name, **made, **row})
                        print(f"repeat {repeat}, {way}, {job.name}: {row['work']:.1f} tuples/s")
        limit(groups, None)
    rows = results.rows()
    write_text(folder / TABLE, page(rows, settings))
    print((folder / TABLE).read_text())
    return 0 if all(row["as_placed"] for row in rows) else 1


def limit(groups: dict[str, Group], share: float | None) -> None:
    """Limit the CPU time of all nodes, or let them use all of it."""
    for group in groups.values():
        group.limit(share)


def profiled(cluster: LocalRay, job: SpinningJob, own: Path) -> None:
    """Write the profile of a pipeline, unless it exists."""
    own.mkdir(parents=True, exist_ok=True)
    graph, streams = own / "graph.json", own / "streams.json"
    if graph.exists():
        return
    (own / "pipeline.json").write_text(json.dumps(pipeline(job)))
    write_graph(job, streams)
    (own / "spread.json").write_text(json.dumps({"actors": options(job, "spread", 0)}))
    files = [str(own / "pipeline.json"), str(own / "spread.json")]
    times = (f"{ENDLESS:g}", f"{WARM_UP_S:g}", f"{PROFILE_S + 15.0}")
    with cluster.driver(PIPELINE, *files, *times) as driver:
        cluster.wait_for(driver)
        command = ["profile", "ray", cluster.url, "--graph", str(streams), "--mips", f"{MIPS:g}"]
        limits = ["--seconds", f"{PROFILE_S:g}", "--timeout", "60"]
        streamplace(*command, *limits, "-o", str(graph))


def options(job: SpinningJob, way: str, seed: int) -> dict[str, list[dict[str, Any]]]:
    """Return the options of each operator's actors, as Ray places them by default or otherwise."""
    rng = random.Random(f"{seed} {job.name}")

    def of(name: str) -> dict[str, Any]:
        if way == "random":
            return {"name": name, "num_cpus": 0, "resources": {rng.choice(DEVICES): 1e-4}}
        strategy = {"scheduling_strategy": "SPREAD"} if way == "spread" else {}
        return {"name": name, **strategy}

    return {
        name: [of(each) for each in instance_names(name, count)]
        for name, count in counts(job).items()
    }


def run(
    cluster: LocalRay,
    job: SpinningJob,
    way: str,
    folder: Path,
    free: dict[str, float],
    repeat: int,
) -> dict[str, Any]:
    """Run a pipeline in one way; return its rate, the predicted one, and where it ran."""
    own = folder / job.name.replace(" ", "-")
    actors, predicted, wanted = own / f"{way}.json", None, None
    if way == OURS:
        predicted, wanted = placed(own, free)
    else:
        actors.write_text(json.dumps({"actors": options(job, way, repeat)}))
    times = (f"{ENDLESS:g}", f"{WARM_UP_S:g}", f"{MEASURED_S:g}")
    found = cluster.run(PIPELINE, str(own / "pipeline.json"), str(actors), *times)
    devices = cluster.device_of()
    where = {
        each: devices[node]
        for name, nodes in found["nodes"].items()
        for each, node in zip(instance_names(name, len(nodes)), nodes, strict=True)
    }
    return {
        "work": work_rate(job, found["rates"]),
        "predicted": predicted,
        "as_placed": wanted is None or where == wanted,
        "where": where,
    }


def placed(own: Path, free: dict[str, float]) -> tuple[float, dict[str, str]]:
    """Place a pipeline and export it; return the predicted rate, and instance -> device."""
    cluster, placement = own / "cluster.json", own / "placement.json"
    devices = [{"name": name, "mips": MIPS * share} for name, share in free.items()]
    cluster.write_text(
        json.dumps({"format": "streamplace-cluster", "version": 1, "devices": devices})
    )
    command = ["place", str(own / "graph.json"), "--cluster", str(cluster), "-o", str(placement)]
    found = json.loads(streamplace(*command, "--source-rate", "1000", "--json"))
    streamplace("export", str(placement), "--to", "ray", "-o", str(own / f"{OURS}.json"))
    return found["throughput"], found["assignment"]


if __name__ == "__main__":
    sys.exit(main())
