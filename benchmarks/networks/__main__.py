"""Graphs of real neural networks: made, counted and placed.

    python -m benchmarks.networks make      # needs torchvision and transformers; see models.py
    python -m benchmarks.networks counts    # needs openvino and onnxscript, too
    python -m benchmarks.networks place     # needs nothing
    python -m benchmarks.networks gpu       # needs torchvision, transformers and an NVIDIA GPU

``place`` prints the makespan in ms with all operators on one device of each kind, and those of
placers. Released graphs are read from ../shared/data, where it exists.
"""

import argparse
from collections.abc import Callable, Mapping

from benchmarks.networks.placing import PLACERS, Row, row_of
from benchmarks.networks.problems import SETS
from benchmarks.released_data import SHARED
from streamplace.papers.hsdag.study.registered import NETWORKS


def main() -> None:
    """Run a part."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.networks", description=__doc__.splitlines()[0]
    )
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--repeats", type=int, default=50, help="measured passes of a network")
    parser.add_argument("--seconds", type=float, default=300.0, help="no further pass after these")
    parser.add_argument("--sets", default=",".join(SETS), help="problems to place")
    parser.add_argument("--only", default="", help="part of the names of problems to place")
    parser.add_argument("--networks", default=",".join(NETWORKS), help="networks to run on a GPU")
    parser.add_argument("--device", default="cuda", help="PyTorch's device beside the processor")
    parser.add_argument("--threads", type=int, default=1, help="threads of the processor")
    options = parser.parse_args()
    PARTS[options.part](options)


def _make(options: argparse.Namespace) -> None:
    from benchmarks.networks.making import make  # noqa: PLC0415 - torch is slow to load

    for name in NETWORKS:
        found = make(name, options.repeats, options.seconds)
        whole = found.module.value or 0.0
        print(f"{name}: module {1e3 * whole:.2f} ms, operators {1e3 * found.sum_s:.2f} ms")


def _counts(options: argparse.Namespace) -> None:
    from benchmarks.networks.counts import counts  # noqa: PLC0415 - torch is slow to load

    titles = ("torch", "IR", "OpenVINO", "ONNX", "published")
    print(f"{'network':14}" + "".join(f"{title:>12}" for title in titles))
    for name in NETWORKS:
        found = counts(name)
        several = (found.torch, found.ir, found.openvino, found.onnx, found.published)
        print(f"{name:14}" + "".join(f"{f'{v}/{e}':>12}" for v, e in several))


def _gpu(options: argparse.Namespace) -> None:
    from benchmarks.networks.on_gpu import rows  # noqa: PLC0415 - torch is slow to load

    for name in options.networks.split(","):
        print(f"## {name}, {options.threads} threads on the processor")
        for line in rows(name, options.device, options.threads, options.repeats):
            print(line, flush=True)


def _place(options: argparse.Namespace) -> None:
    kinds = ("cpu", "accelerator", "gpu")
    titles = "".join(f"{title:>12}" for title in (*kinds, *PLACERS, "gain", "moved"))
    print(f"{'problem':36}{'V/E':>11}{'devices':>9}{titles}")
    for name in options.sets.split(","):
        if name != "own" and not SHARED.is_dir():
            print(f"{name}: skipped, as {SHARED} does not exist")
            continue
        for title, problem in SETS[name]():
            if options.only in title:
                row = row_of(problem)
                count = len(problem.cluster.devices)
                print(f"{title:36}{f'{row.operators}/{row.streams}':>11}{count:9}", end="")
                print("".join(map(_cell, _figures(row, kinds))) + f"{row.moved:12}", flush=True)


def _figures(row: Row, kinds: tuple[str, ...]) -> list[str]:
    times = [row.alone.get(kind) for kind in kinds] + [row.placed[each] for each in PLACERS]
    gain = "-" if row.gain is None else f"{row.gain:.2%}"
    return ["-" if time is None else f"{1e3 * time:.3f}" for time in times] + [gain]


def _cell(text: str) -> str:
    return f"{text:>12}"


PARTS: Mapping[str, Callable[[argparse.Namespace], None]] = {
    "make": _make,
    "counts": _counts,
    "place": _place,
    "gpu": _gpu,
}
"""Name -> function that runs the part."""

if __name__ == "__main__":
    main()
