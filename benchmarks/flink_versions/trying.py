"""The commands of streamplace, tried on a cluster: what each says, and whether it is right."""

import argparse
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from cluster_config import version_in
from scripting import ScriptError, say

from benchmarks.flink_versions.job import Counted
from streamplace.cli.main import main

WORKS = "yes"
CHAIN = ("Source: numbers", "parse", "negative")
COUNTING = ("count", "journal: Writer", "journal: Committer")
COSTS = "source_rate = 100\n[default]\ninstructions = 200_000\npayload_bytes = 8\nselectivity = 1\n"
ROOM = {"devices": [{"name": f"d{i}", "mips": 2500, "cores": 3} for i in range(2)]}
PROFILE_S, WINDOW_S = 15, 20
PATIENCE = ("--timeout", "60")  # other work on the machine delays answers
REST, EXECUTION = "rest", "execution"


def versions(about: str, *, least: Literal["*", "+"] = "+") -> Iterator[tuple[Path, str]]:
    """Yield the folders of Flink that the command line names, with their versions.

    Parameters
    ----------
    about
        The first line of the help.
    least
        Whether there may be none.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("homes", type=Path, nargs=least, help="folders of Flink, which hold lib")
    for home in parser.parse_args().homes:
        version = version_in(home)
        say(f"Flink {version}")
        yield home.resolve(), version


class Trying:
    """Commands on one cluster; what they say is kept.

    Parameters
    ----------
    folder
        For the files of the commands.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.found: dict[str, str] = {}
        folder.mkdir(parents=True, exist_ok=True)
        self.file("costs.toml").write_text(COSTS)
        cluster = {"format": "streamplace-cluster", "version": 1, **ROOM}
        self.file("cluster.json").write_text(json.dumps(cluster))

    def file(self, name: str) -> Path:
        """Return a file of the commands."""
        return self.folder / name

    def step(self, what: str, do: Callable[[], object]) -> bool:
        """Do a step; record that it works, or why not."""
        try:
            do()
        except (ScriptError, OSError) as error:
            self.found[what] = str(error)
        else:
            self.found[what] = WORKS
        say(f"{what}: {self.found[what]}")
        return self.found[what] == WORKS

    def run(self, *arguments: str) -> str:
        """Run a command of streamplace and return its stdout.

        Raises
        ------
        ScriptError
            With its last line on stderr, if it fails.
        """
        out, errors = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(errors):
            code = main(arguments)
        self.file("commands.log").open("a").write(
            f"$ streamplace {' '.join(arguments)}\n{out.getvalue()}{errors.getvalue()}[{code}]\n"
        )
        if code:
            raise ScriptError((errors.getvalue().strip() or f"exit code {code}").splitlines()[-1])
        return out.getvalue()

    def imported(self, plan: str, name: str) -> None:
        """Import a plan, and check the operators, their streams and their instances."""
        file, graph = self.file(f"{name}.plan.json"), self.file(f"{name}.json")
        file.write_text(plan)
        costs = ["--costs", str(self.file("costs.toml")), "--logical"]
        self.run("import", str(file), "--from", "flink-plan", *costs, "-o", str(graph))
        value = json.loads(graph.read_text())
        names = {each["name"]: each.get("parallelism", 1) for each in value["operators"]}
        wanted = {**dict.fromkeys(CHAIN, 1), **dict.fromkeys(COUNTING, 2)}
        expect(names, wanted, "operators")
        streams = {(each["source"], each["target"]) for each in value["streams"]}
        feeds = "negative" if name == REST else "parse"  # REST does not say which member it is
        chains = {*pairwise(CHAIN), *pairwise(COUNTING)}
        expect(streams, {*chains, (feeds, COUNTING[0])}, "streams")

    def profiled(self, url: str, job: str) -> None:
        """Profile a job, and check its rate and where it runs."""
        files = [
            *("-o", str(self.file("profile.json"))),
            *("--placement", str(self.file("now.json"))),
        ]
        how = [
            "--job",
            job,
            "--mips",
            "2500",
            "--seconds",
            f"{PROFILE_S}",
            *PATIENCE,
            "--json",
            *files,
        ]
        value = json.loads(self.run("profile", "flink", url, *how))
        self.file("profile.out.json").write_text(json.dumps(value))
        rate = value["source_rate"]["value"]
        if rate is None or not 50 < rate < 200:
            raise ScriptError(f"source rate {rate} instead of 100")
        parsed = {each["name"]: each for each in value["operators"]}
        if not parsed["count"]["instructions"]["value"]:
            raise ScriptError(f"instructions of count: {parsed['count']['instructions']}")

    def placed(self, name: str, instances: int, **device: str) -> Path:
        """Place the imported graph: operator -> device; return the placement."""
        graph, target = self.file(f"{name}.graph.json"), self.file(f"{name}.json")
        costs = json.loads(self.file(f"{EXECUTION}.json").read_text())
        for each in costs["operators"]:
            if each["name"] in COUNTING:
                each["parallelism"] = instances
        graph.write_text(json.dumps(costs))
        pins = self.file(f"{name}.pins.json")
        pins.write_text(json.dumps({"pins": device}))
        rules = ["--constraints", str(pins), "--cluster", str(self.file("cluster.json"))]
        self.run("place", str(graph), *rules, "--whole-operators", "-o", str(target))
        return target

    def applied(self, job: Counted, id_: str, placement: Path, *how: str) -> str:
        """Apply a placement; return the id of the job that runs then.

        Raises
        ------
        ScriptError
            If it fails, if the job runs elsewhere than placed, or if its counts are not exact.
        """
        asked = ["apply", "flink", str(placement), "--url", job.flink.url, "--job", id_, "--json"]
        limits = [*PATIENCE, "--deadline", "300", "--start-timeout", "300"]
        answer: dict[str, Any] = json.loads(self.run(*asked, *limits, *how))
        if not job.is_exact():
            raise ScriptError("counts are lost or repeated")
        if "--labels" in how:
            placed = json.loads(placement.read_text())["assignment"]
            hosts = job.where(answer["job"])
            for operator, found in hosts.items():
                wanted = Counter(
                    device for name, device in placed.items() if name.partition("[")[0] == operator
                )
                expect(found, wanted, operator)
        return str(answer["job"])

    def watched(self, url: str, job: str) -> None:
        """Let `watch` advise after one window."""
        rules = [
            "--window",
            f"{WINDOW_S}",
            "--stabilisation",
            "1",
            "--windows",
            "1",
            *PATIENCE,
            "--json",
        ]
        where = ["--job", job, "--cluster", str(self.file("cluster.json"))]
        line = self.run("watch", "flink", url, *where, *rules)
        self.file("watch.json").write_text(line)
        offered = json.loads(line.splitlines()[-1])
        if not offered:
            raise ScriptError("no window")


def expect(found: object, wanted: object, what: str) -> None:
    """Raise ScriptError where something is not as expected."""
    if found != wanted:
        raise ScriptError(f"{what}: {found} instead of {wanted}")
