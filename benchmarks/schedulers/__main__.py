"""`auto` beside the schedulers of SAGA and Estee, by their simulators and by ours.

    python -m benchmarks.schedulers --saga PYTHON [--estee PYTHON --estee-folder FOLDER]
    python -m benchmarks.schedulers --saga PYTHON --rounds 0 --drawn 0 GRAPH.json …

PYTHON is the interpreter of an environment that has the library: anrg-saga 2.1 (for Python 3.12 or
later), or numpy 1.23, simpy, deap and lxml for Estee, whose repository is FOLDER. A library without
an interpreter is skipped. Problems are the library's own graphs, random problems of the families of
`benchmarks.makespans.drawn`, and graphs of files, in each case without what the library does not
know (see `Instance`). Graphs of files run on four equal devices with one core each and links of
1 Gbit/s. Seeds are fixed.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import streamplace as sp
from benchmarks.makespans.drawn import drawn_problem
from benchmarks.schedulers.comparison import Failure, Row, compared, report
from benchmarks.schedulers.instances import Instance, instance_of
from benchmarks.schedulers.library import Library
from streamplace.errors import StreamplaceError

LARGEST = 150  # tasks of a random problem; SAGA's schedulers take minutes on more
DEVICES = 4  # for a graph of a file


def main() -> None:
    """Compare with each library, and print its tables."""
    options = _options()
    for library in _libraries(options):
        rows, failures = list[Row](), list[Failure]()
        with library:
            for i, instance in enumerate(_instances(library, options)):
                for found in compared(library, instance, options.seconds, options.limit):
                    if isinstance(found, Row):
                        rows.append(replace(found, instance=f"{instance.name} {i}"))
                    else:
                        failures.append(found)
        for group in sorted({_group(row) for row in rows}):
            chosen = [row for row in rows if _group(row) == group]
            print(f"\n{library.name}, {group} graphs")
            report(chosen, [each for each in failures if each.instance.split()[0] == group])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.schedulers", description=__doc__.splitlines()[0]
    )
    parser.add_argument("graphs", nargs="*", type=Path, help="files of graphs")
    parser.add_argument("--saga", metavar="PYTHON")
    parser.add_argument("--estee", metavar="PYTHON")
    parser.add_argument("--estee-folder", type=Path, help="Estee's repository")
    parser.add_argument("--rounds", type=int, default=10, help="graphs of each kind of a library")
    parser.add_argument("--drawn", type=int, default=60, help="random problems")
    parser.add_argument("--seconds", type=float, default=0.2, help="CPU seconds of auto")
    parser.add_argument("--limit", type=float, default=10.0, help="CPU seconds of other schedulers")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.estee and options.estee_folder is None:
        parser.error("--estee requires --estee-folder")
    return options


def _libraries(options: argparse.Namespace) -> Iterator[Library]:
    if options.saga is None:
        print("SAGA: skipped, as --saga names no interpreter", file=sys.stderr)
    else:
        yield Library("SAGA", "on_saga", options.saga)
    if options.estee is None:
        print("Estee: skipped, as --estee names no interpreter", file=sys.stderr)
        return
    where = options.estee, str(options.estee_folder.resolve())
    yield Library("Estee, free", "on_estee", *where, "free", {"network": "free"})
    yield Library("Estee, max-min", "on_estee", *where, "nic", {"network": "max-min"})


def _instances(library: Library, options: argparse.Namespace) -> Iterator[Instance]:
    yield from library.graphs(options.rounds, options.seed)
    for instance in (*_drawn(options), *files(options.graphs)):
        if library.script == "on_estee" and not instance.has_equal_devices:
            yield instance.on_equal_devices()
        else:
            yield instance


def _drawn(options: argparse.Namespace) -> Iterator[Instance]:
    for number in range(options.drawn):
        name, problem = drawn_problem(number, options.seed)
        network = replace(problem.cluster.network, kind="free", latency_s=0.0)
        links = tuple(replace(link, latency_s=0.0) for link in network.overrides)
        cluster = sp.Cluster(problem.cluster.devices, replace(network, overrides=links))
        plain = sp.Problem(problem.graph, cluster, objective=sp.Makespan())
        if len(problem.graph.names) <= LARGEST:
            yield from _known(f"drawn {name.split(',')[0]}", plain)


def files(paths: Sequence[Path]) -> Iterator[Instance]:
    """Return the graphs of files as instances.

    Raises
    ------
    SystemExit
        If a file is not a graph, or has what other libraries do not know.
    """
    for path in paths:
        try:
            graph = sp.read_graph(path)
            kind = next((kind for each in graph.operators for kind in each.seconds_on), None)
            devices = [sp.Device(f"d{d}", 1000.0, kind=kind) for d in range(DEVICES)]
            cluster = sp.Cluster(devices, sp.Network("free", latency_s=0.0))
            problem = sp.Problem(graph, cluster, objective=sp.Makespan())
            yield instance_of(f"recorded {path.stem}", problem)
        except StreamplaceError as error:
            raise SystemExit(f"{error}") from None


def _known(name: str, problem: sp.Problem) -> Iterable[Instance]:
    """Return a random problem as an instance, or nothing if the libraries do not know its kind."""
    try:
        return [instance_of(name, problem)]
    except StreamplaceError:
        return []


def _group(row: Row) -> str:
    return row.instance.split()[0]


if __name__ == "__main__":
    main()
