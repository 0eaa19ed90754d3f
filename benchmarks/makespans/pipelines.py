"""Pipelines of neural networks: the time per sample, against the best contiguous split.

    python -m benchmarks.makespans.pipelines [--seconds 10]

The problems are the throughput workloads of dnn-partitioning (Tarnawski et al. 2020). A row has the
time per sample in ms, which is the largest utilisation over the source rate; that of the best
contiguous split, by the authors' dynamic programme; and the gap to the bound of streamplace.
"""

import argparse
import sys

import streamplace as sp
from benchmarks.exit_codes import exit_code
from benchmarks.released_data import SHARED, needed
from streamplace.formats.documents import read_document
from streamplace.scoring.throughput import ceiling, max_source_rate

WORKLOADS = SHARED / "dnn" / "throughput"
RATE = 1e6  # samples/s, which overloads every placement
CONTIGUOUS = {  # ms per sample
    "layer-bert24_inference": 17.790,
    "layer-gnmt_training": 107.004,
    "layer-resnet50_inference": 33.775,
    "layer-resnet50_training": 78.632,
    "operator-bert_l_3_inference": 27.919,
    "operator-bert_l_3_training": 65.303,
    "operator-bert_l_12_inference": 147.478,
    "operator-bert_l_12_training": 437.998,
    "operator-resnet50_inference": 124.349,
    "operator-resnet50_training": 255.194,
}


def main() -> None:
    """Print one row per workload."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    head = f"{'workload':32}{'ms':>10}{'contiguous':>12}{'ratio':>8}{'bound':>10}{'gap':>8}{'s':>7}"
    needed(WORKLOADS)
    print(head)
    for name, contiguous in CONTIGUOUS.items():
        if options.only in name:
            print(_row(name, contiguous, options.seconds), flush=True)


def workload(name: str) -> sp.Problem:
    """Return the problem of a workload.

    Raises
    ------
    ValueError
        If its file has no cluster.
    """
    found = read_document(str(WORKLOADS / f"{name}.json"), "dnn-partitioning")
    if found.cluster is None:
        raise ValueError(f"{name} has no cluster")
    return sp.Problem(found.graph, found.cluster, source_rate=RATE)


def _row(name: str, contiguous: float, seconds: float) -> str:
    posed = workload(name)
    placer = f"auto:seconds={seconds}"
    result = sp.place(posed.graph, posed.cluster, source_rate=RATE, placer=placer)
    problem = result.placement.problem
    sustained = max_source_rate(problem, result.placement.devices)
    if sustained is None:
        raise ValueError(f"{name} loads nothing")
    least, reached = 1e3 / ceiling(problem), 1e3 / sustained
    return (
        f"{name:32}{reached:10.3f}{contiguous:12.3f}{reached / contiguous:8.4f}"
        f"{least:10.3f}{1 - least / reached:8.1%}{result.seconds:7.1f}"
    )


if __name__ == "__main__":
    sys.exit(exit_code(main, name="makespans.pipelines"))
