"""Versions of Flink: what differs in their documents, and what works on each.

    PYTHONPATH=examples/flink python -m benchmarks.flink_versions FOLDER…

Each FOLDER has Flink's jars in `lib`, as the package apache-flink-libraries of one version. A
cluster of two TaskManagers runs for each, first under the default scheduler and then under the
adaptive one; documents, answers and the table go to benchmarks/results/flink-versions.
"""

import json
import sys
from pathlib import Path
from typing import Any

from cluster_config import ADAPTIVE
from local_flink import LocalFlink, TaskManager
from scripting import ScriptError, script

from benchmarks.commit import ROOT
from benchmarks.flink_versions.documents import collect, described
from benchmarks.flink_versions.job import Counted
from benchmarks.flink_versions.table import table
from benchmarks.flink_versions.trying import EXECUTION, REST, Trying, versions
from benchmarks.result_lines import origin
from streamplace.engines.flink import cluster
from streamplace.engines.flink.client import Client
from streamplace.files.writing import write_text
from streamplace.formats.profiling.rest import Server

RESULTS = ROOT / "benchmarks" / "results" / "flink-versions"
MODULE = "benchmarks.flink_versions"
FOLDER = Path("flink-loop").resolve() / "versions"
PATIENT = "heartbeat.timeout: 120000\n"  # other work on the machine delays answers
MANAGERS = tuple(TaskManager(f"d{i}", {f"dev_d{i}": 1000}, slots=3) for i in range(2))


def default_scheduler(home: Path, folder: Path, trying: Trying) -> dict[str, Any]:
    """Try what reads a job, and restarts from a savepoint; return facts about documents."""
    with LocalFlink(home, folder, MANAGERS, restarts=True, config=PATIENT) as flink:
        job = Counted(flink, folder / "job", instances=2)
        execution_plan = job.execution_plan()
        id_ = job.start()
        job.grows()
        client = Client(Server(flink.url), 30.0)
        found = collect(client, id_, folder / "documents")
        facts = described(found, execution_plan)
        trying.step(
            "import: plan from REST",
            lambda: trying.imported(json.dumps(found["job"]["plan"]), REST),
        )
        trying.step("import: getExecutionPlan", lambda: trying.imported(execution_plan, EXECUTION))
        trying.step("profile flink", lambda: trying.profiled(flink.url, id_))
        trying.step("watch: one window of advice", lambda: trying.watched(flink.url, id_))
        ids = [id_]

        def apply(name: str, **pins: str) -> None:
            placement = trying.placed(name, 2, **pins)
            ids.append(trying.applied(job, ids[-1], placement, "--labels", *job.program()))

        apart = {"Source: numbers": "d0", "parse": "d1", "negative": "d1", "count": "d0"}
        fused = {"Source: numbers": "d1", "parse": "d1", "negative": "d1", "count": "d0"}
        trying.step("apply: savepoint restart, chains divided", lambda: apply("apart", **apart))
        trying.step("apply: savepoint restart, chains joined", lambda: apply("fused", **fused))
        restarted = collect(client, ids[-1], folder / "restarted")
        stopped = collect(client, ids[0], folder / "stopped")
        latest = stopped["checkpoints"]["latest"]["savepoint"] or {}
        facts["type of the savepoint that stops"] = latest.get("checkpoint_type", "absent")
        facts["state of the stopped job"] = stopped["job"]["state"]
        facts["slots that a job holds"] = sorted(
            {key for each in restarted["taskmanager"].get("allocatedSlots", ()) for key in each}
        )
        return facts


def adaptive_scheduler(home: Path, folder: Path, trying: Trying) -> dict[str, Any]:
    """Try changes in place; return facts about documents."""
    with LocalFlink(home, folder, MANAGERS[:1], restarts=True, config=ADAPTIVE + PATIENT) as flink:
        job = Counted(flink, folder / "job", instances=2)
        id_ = job.start()
        job.grows()
        found = collect(Client(Server(flink.url), 30.0), id_, folder / "documents")

        def rescale(name: str, instances: int) -> None:
            placement = trying.placed(name, instances)
            trying.applied(job, id_, placement, "--numbers-only")
            where = job.where(id_)["count"]
            if where.total() != instances:
                raise ScriptError(f"count has {where.total()} instances instead of {instances}")

        trying.step("apply --numbers-only in place, 2 to 3", lambda: rescale("more", 3))
        trying.step("apply --numbers-only in place, 3 to 1", lambda: rescale("less", 1))
        requirements = found["resource-requirements"]
        return {
            "job under the adaptive scheduler: schedulerType": found["job"].get(
                "schedulerType", "absent"
            ),
            "resource requirements": requirements.get("error", "readable"),
        }


def main() -> int:
    """Try all versions, and write the table."""
    about = origin(MODULE)
    for home, version in versions(__doc__.splitlines()[0], least="*"):  # none: only the table
        cluster.TRIED += (cluster.minor_of(version),)  # which would be refused otherwise
        folder = FOLDER / version
        trying = Trying(folder)
        facts = default_scheduler(home, folder / "default", trying)
        facts |= adaptive_scheduler(home, folder / "adaptive", trying)
        row = {"version": version, **about, "command": f"python -m {MODULE} FLINK/{version}"}
        row |= {"documents": facts, "works": trying.found}
        RESULTS.mkdir(exist_ok=True)
        write_text(RESULTS / f"{version}.json", json.dumps(row, indent=1) + "\n")
    rows = [json.loads(file.read_text()) for file in sorted(RESULTS.glob("*.json"))]
    print(table(rows))
    return 0


if __name__ == "__main__":
    with script("flink-versions"):
        sys.exit(main())
