"""Comparison of the report page's arithmetic, run in a browser engine, with that of Python."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from benchmarks.reference.differences import largest_difference, relative_difference
from streamplace import Placement
from streamplace.files.clusters import cluster_to
from streamplace.files.graphs import graph_to
from streamplace.reports.loads import sums_of
from streamplace.scoring.loads import LinkLoad, UplinkLoad
from streamplace.scoring.score import ThroughputScore
from tests.support.browser_engines import PAGE, Evaluate, called_in_node

TIED = 1e-12  # relative difference of utilisations whose order rounding may change
SCORES = """(batch) => batch.map(({ graph, sums: values, cluster, setting, assignment, most }) => {
  const network = SP.links.networkOf(cluster);
  const sums = graph
    ? SP.model.sumsOf(SP.flow.flowOf(graph), cluster, network, { ...setting, assignment })
    : SP.model.sumsFrom(values);
  const score = SP.model.scoreOf(sums, cluster, network, setting, most);
  const links = score.links.map((load) => [SP.links.linkName(load, cluster), load.utilisation]);
  return { ...score, links };
})"""


def script() -> str:
    """Return the script of the page's model, preceded by the shared namespace."""
    files = (PAGE / f"{name}.js" for name in ("times", "flow", "links", "model"))
    return "\n".join(["const SP = {};", *(file.read_text() for file in files)])


@contextmanager
def in_node() -> Iterator[Evaluate | None]:
    """Yield a function that scores a batch in Node.js (with Chromium's engine); None without it."""
    with called_in_node(script(), SCORES) as evaluate:
        yield evaluate


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
