"""Speed of this tree beside that of others, such as the last releases.

    python -m benchmarks.speed_beside FOLDER …|--host [--rounds N] [--only NAME …]

Each FOLDER is a checkout of another version. With --host, the other one is this tree with kernels
that are compiled for this machine's processor, instead of those for every processor of its level.

Each round runs the benchmarks of all in turn, with the same Python and packages. A first round,
which compiles the kernels, is not counted. A line states the medians of a figure in this tree and
in another, and the median ratio of the rounds: above 1, this tree is slower. Figures that only one
tree has are named. Where another tree lacks a benchmark, this tree's runs with its packages if it
can.
"""

import argparse
import math
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from llvmlite.binding import get_host_cpu_name

from benchmarks.bytecode import environment

HERE = Path(__file__).resolve().parents[1]
BENCHMARKS: Mapping[str, tuple[str, ...]] = {
    "speed": ("benchmarks.speed",),
    "kernels": ("benchmarks.kernels",),
    "makespans": ("benchmarks.kernels", "--only", "passes", "searches"),
    "engine": ("benchmarks.engine", "--only", "speed", "linearity"),
    "json": ("benchmarks.json_graphs",),
    "flows": ("benchmarks.flows",),
    "training": ("benchmarks.training_steps",),
}
SLOWER = 1.05  # ratio above which a line is marked
RATE = re.compile(r"/s$|speed-up")  # titles of figures that are better when larger
RENAMED = (  # in titles of 0.2: old words and new ones
    ("ns a tick an item", "ns per tick per item"),
    ("bytes an item", "bytes per item"),
    ("µs a tick", "µs per tick"),
    ("ns an operator", "ns per operator"),
    ("times plain Python", "speed-up over plain Python"),
    ("times CEPSim", "speed-up over CEPSim"),
)
_NUMBER = re.compile(r"\d[\d,]*\.?\d*(?:e[-+]?\d+)?")


def main() -> None:
    """Run the benchmarks of both trees and print one line per figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="*", help="checkouts of other versions")
    parser.add_argument("--host", action="store_true", help="kernels compiled for this processor")
    parser.add_argument("--rounds", type=_positive, default=5, help="rounds; default: 5")
    parser.add_argument(
        "--only",
        nargs="*",
        choices=BENCHMARKS,
        default=[name for name in BENCHMARKS if name != "makespans"],  # a part of the kernels
        help="default: all but makespans, which is a part of kernels",
    )
    arguments = parser.parse_args()
    if bool(arguments.folders) == arguments.host:
        parser.error("either the folders of other versions or --host is needed")
    trees = [HERE, *([HERE] if arguments.host else (each.resolve() for each in arguments.folders))]
    for tree in trees:
        if not (tree / "benchmarks").is_dir():
            sys.exit(f"{tree}: not a checkout of streamplace")
    environments = [environment() for _ in trees]
    if arguments.host:
        environments[1]["NUMBA_CPU_NAME"] = get_host_cpu_name()
    print(f"{'figure':56} {'here':>12} {'other':>12} {'ratio':>7}  of the rounds")
    with TemporaryDirectory(prefix="streamplace-kernels-") as made:
        for number, variables in enumerate(environments):
            variables["NUMBA_CACHE_DIR"] = str(Path(made) / str(number))
        for name in arguments.only:
            runs: list[list[dict[str, float]]] = [[] for _ in trees]
            for _ in range(arguments.rounds + 1):
                for tree, variables, into in zip(trees, environments, runs, strict=True):
                    into.append(measured(tree, variables, *BENCHMARKS[name]))
            mine, *others = (one[1:] for one in runs)  # the first round compiles kernels
            for tree, other in zip(trees[1:], others, strict=True):
                if len(others) > 1:
                    print(f"beside {tree.name}:")
                for line in compared(mine, other):
                    print(line, flush=True)


def measured(
    tree: Path, variables: Mapping[str, str], module: str, *options: str
) -> dict[str, float]:
    """Run a benchmark in a tree, this one's if it has none; return its figures by title, if any.

    Parameters
    ----------
    variables
        The environment. Each tree has a folder of its own for the kernels that it compiles, because
        those of another version of the same module cannot be loaded.
    """
    path = module.replace(".", "/")
    has_it = any((tree / f"{path}{end}").exists() for end in ("", ".py"))
    program = ("-m", module) if has_it else ("-P", str(HERE / f"{path}.py"))
    run = subprocess.run(
        [sys.executable, *program, *options],
        cwd=tree,
        env={**variables, "PYTHONPATH": str(tree)},
        stdout=subprocess.PIPE,
        text=True,
        check=has_it,  # this tree's may need modules that the other lacks
    )
    return {} if run.returncode else dict(figures(run.stdout))


def figures(output: str) -> Iterator[tuple[str, float]]:
    """Yield the title and value of each figure of a benchmark's output.

    A line is a title and its figures, with at least two spaces in between. The title of one of
    several figures ends with its number.
    """
    for line in output.splitlines()[1:]:
        title, *columns = re.split(r"\s{2,}", line.strip())
        for old, new in RENAMED:
            title = title.replace(old, new)
        values = _NUMBER.findall(columns[0]) if columns else []
        for number, value in enumerate(values, start=1):
            full = title if len(values) == 1 else f"{title} [{number}]"
            yield full, float(value.replace(",", ""))


def compared(mine: list[dict[str, float]], other: list[dict[str, float]]) -> Iterator[str]:
    """Yield one line per figure of either tree, from the figures of each round."""
    for title in mine[0]:
        if title not in other[0]:
            yield f"{title:56} only here"
            continue
        own, others = ([run[title] for run in runs] for runs in (mine, other))
        pairs = zip(others, own, strict=True) if is_rate(title) else zip(own, others, strict=True)
        ratios = sorted(a / b if b else math.inf for a, b in pairs)
        middle = statistics.median(ratios)
        mark = "  SLOWER" if middle > SLOWER else ""
        yield (
            f"{title:56} {statistics.median(own):12.5g} {statistics.median(others):12.5g} "
            f"{middle:7.3f}  {ratios[0]:.3f} to {ratios[-1]:.3f}{mark}"
        )
    yield from (f"{title:56} only in the other" for title in other[0] if title not in mine[0])


def _positive(text: str) -> int:
    """Return a number of rounds, or refuse it."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text}: must be an integer of at least 1")
    return int(text)


def is_rate(title: str) -> bool:
    """Return whether larger values of a figure are better."""
    return RATE.search(re.sub(r" \[\d+\]$", "", title)) is not None


if __name__ == "__main__":
    main()
