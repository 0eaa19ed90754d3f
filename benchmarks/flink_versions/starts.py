"""Numbers of instances after a start with a document of the Kubernetes operator, by version.

    PYTHONPATH=examples/flink python -m benchmarks.flink_versions.starts FOLDER…

Each FOLDER has Flink's jars in `lib`. `export --to flink-deployment` writes the documents for a
source with one instance and an operator with three. Their settings start a session cluster's job,
and clusters in application mode under both schedulers; REST then says how many instances of the
two operators run. The last two rows have three instances of both.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from cluster_config import ADAPTIVE, version_in
from local_flink import LocalFlink, TaskManager
from scripting import ScriptError, say, script
from submitted import Submitted, build, wait

from benchmarks.flink_versions.application import Application
from benchmarks.flink_versions.table import table
from benchmarks.flink_versions.trying import Trying, versions
from streamplace.engines.flink.applying.apply import upload
from streamplace.engines.flink.cluster import minor_of
from streamplace.formats.profiling.rest import Server

FOLDER = Path("flink-loop").resolve() / "starts"
MAIN, SOURCE, SLOW = "StartsJob", "Source: src", "slow"
SLOTS = SEVERAL = 3
CHANGED = 2
CODE_SETS_ONE = ["1"]  # argument of the job
GRAPH = """\
{{"format": "streamplace-graph", "name": "starts", "source_rate": 100,
 "operators": [
  {{"name": "{SOURCE}", "instructions": 1e5, "payload_bytes": 8, "parallelism": {sources}}},
  {{"name": "{SLOW}", "instructions": 1e6, "payload_bytes": 8, "parallelism": {SEVERAL}}}],
 "streams": [{{"source": "{SOURCE}", "target": "{SLOW}", "partitioning": "hash"}}]}}
"""
DOCUMENT = """\
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata: {{name: starts}}
spec:
  flinkVersion: {version}
  flinkConfiguration: {{{config}}}
  job: {{jarURI: "local:///starts.jar", parallelism: 1, upgradeMode: savepoint}}
"""
SCHEDULER = "jobmanager.scheduler"
PATIENT = """\
heartbeat.timeout: 120000
resourcemanager.standalone.start-up-time: 120000
"""
"""Other work on the machine delays answers, and the TaskManager's start."""


class Starts:
    """Starts of a job on one version of Flink; `found` has what came of each."""

    def __init__(self, home: Path, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.home, self.folder, self.trying = home, folder, Trying(folder)
        self.jar = build(folder, home, MAIN, [Path(__file__).parent / f"{MAIN}.java"])
        self.found: dict[str, str] = {}

    def run(self) -> None:
        """Try all of them."""
        session = TaskManager("tm0", slots=SLOTS)
        with LocalFlink(self.home, self.folder / "session", (session,), config=PATIENT) as flink:
            job = Submitted(flink, self.jar, CODE_SETS_ONE)
            server = Server(flink.url)
            path = f"/jars/{upload(server, self.jar, 60)}/plan"
            plan = server.send("POST", path, {"programArgsList": CODE_SETS_ONE}, 60)
            self.trying.file("plan.json").write_text(json.dumps(plan))
            document = self.document("adaptive")
            config = {key: str(value) for key, value in flink_options(document).items()}
            del config[SCHEDULER]
            self.note("session cluster, default scheduler", flink, job.start(config))
        self.exported("export, default scheduler", "default")
        self.exported("export, adaptive scheduler", "adaptive")
        self.start("application, default scheduler", config, *CODE_SETS_ONE)
        self.start("application, adaptive scheduler", config, *CODE_SETS_ONE, adaptive=True)
        equal = self.document("default", sources=SEVERAL)
        config = flink_options(equal)
        config["parallelism.default"] = str(equal["spec"]["job"]["parallelism"])  # as the operator
        self.start("equal numbers, code sets none", config)
        self.start("equal numbers, code sets 1", config, *CODE_SETS_ONE)

    def document(self, scheduler: str, sources: int = 1) -> Any:
        """Return the exported document of a job under a scheduler."""
        graph, placement = self.trying.file("graph.json"), self.trying.file("placement.json")
        values = {"SOURCE": SOURCE, "SLOW": SLOW, "SEVERAL": SEVERAL}
        graph.write_text(GRAPH.format(sources=sources, **values))
        self.trying.run("place", str(graph), "--devices", "1x2500x8", "-o", str(placement))
        version = "v" + minor_of(version_in(self.home)).replace(".", "_")
        base = self.trying.file("deployment.yaml")
        base.write_text(DOCUMENT.format(version=version, config=f"{SCHEDULER}: {scheduler}"))
        plan = ["--plan", str(self.trying.file("plan.json")), "--patch", str(base)]
        new = self.trying.file("new.yaml")
        to = ["export", str(placement), "--to", "flink-deployment", "-o", str(new)]
        self.trying.run(*to, *plan)
        return yaml.safe_load(new.read_text())

    def exported(self, what: str, scheduler: str) -> None:
        """Note whether `export` writes a document."""
        try:
            self.document(scheduler)
        except ScriptError as error:
            say(f"{what}: {error}")
            self.found[what] = "refused"
        else:
            self.found[what] = "written"

    def start(
        self, what: str, config: Mapping[str, Any], *arguments: str, adaptive: bool = False
    ) -> None:
        """Start a cluster in application mode, and under the adaptive scheduler change it, too."""
        settings = {key: str(value) for key, value in config.items() if key != SCHEDULER}
        flink = Application(
            self.home,
            self.folder / "application",
            self.jar,
            MAIN,
            arguments,
            settings=settings,
            slots=SLOTS,
            config=PATIENT + (ADAPTIVE if adaptive else ""),
        )
        with flink:
            self.note(what, flink, flink.job)
            if adaptive:
                self.change(flink)
                self.note("the same, then 2 asked for in place", flink, flink.job)

    def change(self, flink: Application) -> None:
        """Change the numbers of instances by REST, as the operator does; wait until they run."""
        path = f"/jobs/{flink.job}/resource-requirements"
        bounds = flink.get(path)
        for vertex in flink.get(f"/jobs/{flink.job}")["vertices"]:
            if vertex["name"].startswith(SLOW):
                bounds[vertex["id"]] = {"parallelism": {"lowerBound": 1, "upperBound": CHANGED}}
        Server(flink.url).send("PUT", path, bounds, 60)
        wait(lambda: instances(flink, flink.job)[SLOW] == CHANGED, "no change in place")

    def note(self, what: str, flink: LocalFlink, job: str) -> None:
        """Keep the numbers of instances that run."""
        found = instances(flink, job)
        self.found[what] = f"{found[SOURCE]}, {found[SLOW]}"
        say(f"{what}: {self.found[what]}")


def flink_options(document: Any) -> dict[str, Any]:
    """Return Flink's options in a document."""
    return dict(document["spec"]["flinkConfiguration"])


def instances(flink: LocalFlink, job: str) -> dict[str, int]:
    """Return operator -> number of its instances; the first of a chain stands for all."""
    vertices = flink.get(f"/jobs/{job}")["vertices"]
    return {each["name"].partition(" -> ")[0]: each["parallelism"] for each in vertices}


def main() -> int:
    """Try all versions, and print the table."""
    rows = []
    for home, version in versions(__doc__.splitlines()[0]):
        starts = Starts(home, FOLDER / version)
        starts.run()
        rows.append({"version": version, "documents": {}, "works": starts.found})
    print(table(rows))
    return 0


if __name__ == "__main__":
    with script("starts"):
        sys.exit(main())
