"""Comparison of the report page's arithmetic, run in a browser engine, with that of Python."""

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path
from typing import Any, cast

import numpy as np

from benchmarks.hardening.campaigns.invariants.deviations import (
    Deviations,
    largest_difference,
    relative_difference,
)
from benchmarks.hardening.campaigns.invariants.numbered_problems import drawn
from benchmarks.hardening.campaigns.invariants.oracle_comparison import pair_text as pair
from benchmarks.reference.browser import chromium
from benchmarks.reference.changes import remade
from streamplace import Placement, ThroughputScore, report
from streamplace.files.clusters import cluster_to
from streamplace.files.graphs import graph_to
from streamplace.report.loads import sums_of
from streamplace.scoring.loads import LinkLoad, UplinkLoad
from streamplace.scoring.throughput import simulate

PAGE = Path(report.__file__).parent / "page"
BATCH = 200  # placements per call
TIED = 1e-12  # relative difference of utilisations whose order rounding may change
HEADROOM = 0.75  # target utilisation of every third problem
SCORES = """(batch) => batch.map(({ graph, sums: values, cluster, setting, assignment, most }) => {
  const network = SP.model.networkOf(cluster);
  const sums = graph
    ? SP.model.sumsOf(SP.model.flowOf(graph), assignment, cluster, network, setting.bandwidth)
    : SP.model.sumsFrom(values);
  const score = SP.model.scoreOf(sums, cluster, network, setting, most);
  const links = score.links.map((load) => [SP.model.linkName(load, cluster), load.utilisation]);
  return { ...score, links };
})"""

ROW_NAME = "the report page's model against Python"
Evaluate = Callable[[list[Any]], list[Any]]


def script() -> str:
    """Return the script of the page's model, preceded by the shared namespace."""
    return "const SP = {};\n" + (PAGE / "model.js").read_text()


@contextmanager
def in_chromium() -> Iterator[Evaluate | None]:
    """Yield a function that scores a batch in Chromium; None without Chromium or Playwright."""
    with chromium() as browser:
        yield None if browser is None else in_page(browser.new_page())


def in_page(page: Any) -> Evaluate:
    """Return a function that scores a batch in an empty page of a browser."""
    page.add_script_tag(content=script())
    return lambda batch: cast("list[Any]", page.evaluate(SCORES, batch))


@contextmanager
def in_node() -> Iterator[Evaluate | None]:
    """Yield a function that scores a batch in Node.js (with Chromium's engine); None without it."""
    with called_in_node(script(), SCORES) as evaluate:
        yield evaluate


@contextmanager
def called_in_node(script: str, function: str) -> Iterator[Evaluate | None]:
    """Yield a JavaScript function of one list that runs after a script; None without Node.js."""
    path = shutil.which("node")
    if path is None:
        yield None
        return
    program = f"{script}\nconst called = {function};\n" + (
        'const lines = require("node:readline").createInterface({ input: process.stdin });\n'
        'lines.on("line", (line) => console.log(JSON.stringify(called(JSON.parse(line)))));\n'
    )
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([path, "-e", program], **pipes) as process:
        stdin, stdout = process.stdin, process.stdout
        assert stdin is not None
        assert stdout is not None

        def evaluate(batch: list[Any]) -> list[Any]:
            stdin.write(json.dumps(batch) + "\n")
            stdin.flush()
            scores: list[Any] = json.loads(stdout.readline())
            return scores

        yield evaluate
        stdin.close()


def against_page(pairs: int, seed: int) -> Deviations:
    """Score pairs of problem and placement in Python, and in Chromium or else in Node.js."""
    for where, started in (("Chromium", in_chromium), ("Node.js", in_node)):
        with started() as evaluate:
            if evaluate is not None:
                return compared(pairs, seed, where, evaluate)
    return Deviations(ROW_NAME, figures={"not run": "no Chromium, no Node.js"})


def compared(pairs: int, seed: int, where: str, evaluate: Evaluate) -> Deviations:
    """Score pairs of problem and placement in the page and in Python, under ``bottleneck``."""
    tally = Deviations(ROW_NAME, figures={"in": where})
    cases = islice(_cases(seed), pairs)
    while batch := list(islice(cases, BATCH)):
        page_scores = evaluate(
            [page_input(placement, number % 4 == 0) for number, placement in batch]
        )
        for (number, placement), score in zip(batch, page_scores, strict=True):
            if not tally.record(difference(score, simulate(placement))):
                tally.add_fault(pair(number, seed, placement.devices))
    return tally


def _cases(seed: int) -> Iterator[tuple[int, Placement]]:
    for number in count():
        problem, rows = drawn(number, seed)
        target = HEADROOM if number % 3 == 0 else 1.0
        problem = remade(problem, target_utilisation=target)
        for row in rows:
            yield number, Placement(problem, row)


def page_input(placement: Placement, large: bool) -> dict[str, Any]:
    """Return the page's input for a placement: the graph, or only its sums if it is large."""
    problem = placement.problem
    return {
        **({"sums": sums_of(placement)} if large else {"graph": graph_to(problem.graph)}),
        "cluster": cluster_to(problem.cluster),
        "assignment": placement.devices.tolist(),
        "most": problem.target_utilisation,
        "setting": {
            "rate": problem.source_rate,
            "mips": [device.mips for device in problem.cluster.devices],
            "bandwidth": problem.cluster.network.bandwidth_mbps,
        },
    }


def difference(page_score: dict[str, Any], score: ThroughputScore) -> float:
    """Return the largest relative difference between the page's score and that of Python."""
    loaded: tuple[LinkLoad | UplinkLoad, ...] = (*score.links, *score.uplinks)
    links, expected = dict(page_score["links"]), {link.name: link.utilisation for link in loaded}
    if links.keys() != expected.keys() or len(links) != len(page_score["links"]):
        return np.inf
    loads = {load.name: load.utilisation for load in score.devices} | expected
    top, busiest = page_score["bottleneck"], score.bottleneck
    if top["kind"] == "operator":
        loads[top["name"]] = top["utilisation"]
    if loads[top["name"]] < busiest.utilisation * (1 - TIED):
        return np.inf
    pairs = [
        (page_score["throughput"], score.throughput),
        (page_score["relative"], score.relative_throughput),
        (page_score["used"], score.devices_used),
        (top["utilisation"], busiest.utilisation),
        *zip(page_score["devices"], [load.utilisation for load in score.devices], strict=True),
        *((links[name], expected[name]) for name in expected),
    ]
    return largest_difference(relative_difference(float(a), float(b)) for a, b in pairs)
