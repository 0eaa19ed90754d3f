"""The study `dream`: the table and the figures of Ni et al. (AAAI 2020)."""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

from streamplace.errors import FormatError, UsageError
from streamplace.families import Recipe
from streamplace.files import read_dataset
from streamplace.files.datasets import files_of
from streamplace.files.reading import STDIO, read_bytes
from streamplace.papers.ni2020.study.outcome import outcome, placers, weight_files
from streamplace.papers.studies.study import Outcome, Part, Plan, PlannedStudy, Row, blocks
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objective import Model
from streamplace.workflows.compare import compare

ONCE = "must be a file or a folder, which can be read several times"
State = tuple[tuple[str, int, int], ...]
"""The path, the modification time in ns and the size of each file of a dataset."""

SOURCE_RATES = (1e4, 2e4)  # tuples/s
MODELS: tuple[Model, ...] = ("path-average", "bottleneck")
GRAPHS, QUICK_GRAPHS = 630, 40  # 630 test graphs in the paper
BLOCK = 10  # graphs per unit of work


def generated(count: int, seed: int, numbers: range) -> list[StreamGraph]:
    """Return some of `count` graphs of the paper's classes, by number."""
    recipe = Recipe("dream", count, seed=seed)
    return [recipe.graph(number) for number in numbers[: max(0, count - numbers.start)]]


def stored(dataset: str) -> list[StreamGraph]:
    """Return the graphs of a dataset, which is read again only if it has changed.

    Raises
    ------
    FormatError
        If the dataset cannot be read or holds no graph, or is a pipe, which can be read only once.
    """
    return _read(dataset, _state(dataset))


@lru_cache(maxsize=1)
def _read(dataset: str, state: State) -> list[StreamGraph]:
    return read_dataset(dataset)


def _state(dataset: str) -> State:
    if dataset == STDIO:
        raise FormatError(f"stdin: {ONCE}")
    files = []
    for path in files_of(dataset):
        try:
            status = os.stat(path)
        except OSError:
            continue  # reading it reports what is wrong with it
        if stat.S_ISFIFO(status.st_mode):
            raise FormatError(f"{path}: {ONCE} (got a pipe)")
        files.append((str(path), status.st_mtime_ns, status.st_size))
    return tuple(files)


@dataclass(frozen=True)
class DreamStudy(PlannedStudy):
    """Ni et al.'s comparison, with stronger baselines, on graphs of the same classes.

    Every system places every graph on 5 devices of 2500 MIPS with links of 1000 Mbps, at 1e4 and at
    2e4 tuples/s, under the model that the published figures follow and under the one with
    backpressure.

    Parameters
    ----------
    graphs
        A dataset; None: 630 generated graphs of the paper's classes, as many as it tests on.
    weights
        A folder with the weights of the paper's allocators, see `weight_files`; None: they are left
        out.
    quick, seed
        See `Options`; the quick study uses 40 graphs.

    Raises
    ------
    UsageError
        If a dataset is combined with `quick`.
    """

    graphs: str | None = None
    weights: str | None = None

    name: ClassVar[str] = "dream"

    def __post_init__(self) -> None:
        if self.quick and self.graphs is not None:
            raise UsageError("dream: cannot combine --graphs with --quick; pass fewer graphs")

    def settings(self) -> Mapping[str, Any]:
        """Return the graphs, systems, models and rates; see `PlannedStudy.settings`."""
        graphs = self._graphs()
        known = placers(self._weights)
        files = (
            {}
            if self._weights is None
            else {
                name: sha256(read_bytes(file)).hexdigest()[:16]
                for name, file in weight_files(self._weights).items()
            }
        )
        hashes = "".join(map(_hash_of, graphs))
        return {
            "graphs": len(graphs),
            "graphs_sha256": sha256(hashes.encode()).hexdigest()[:16],
            "systems": list(known),
            "weights_sha256": files,
            "models": list(MODELS),
            "source_rates": list(SOURCE_RATES),
        }

    def parts(self) -> Sequence[Part]:
        """Return the table of models and blocks of graphs; see `PlannedStudy.parts`."""
        return [Part(("model", "start"), self._blocks, "{model} {start}".format, self._results)]

    def _blocks(self) -> Iterator[tuple[Model, int]]:
        count = self._count if self.graphs is None else len(stored(self.graphs))
        yield from ((model, start) for model in MODELS for (start,) in blocks(count, BLOCK))

    def _results(self, model: Model, start: int) -> Iterator[Row]:
        """Yield the rows of all systems on a block of graphs."""
        return self.rows(model, start, placers(self._weights))

    def rows(self, model: Model, start: int, systems: Mapping[str, str]) -> Iterator[Row]:
        """Yield a row for each graph and system: relative throughput and devices, by rate.

        Parameters
        ----------
        start
            Number of the first graph of the block.
        systems
            Placers by the name of their row.
        """
        graphs = self._graphs(range(start, start + BLOCK))
        found = compare(graphs, systems, SOURCE_RATES, model=model, seed=self.seed + start, jobs=1)
        for g in range(len(graphs)):
            for j, system in enumerate(found.placers):
                yield {
                    "model": model,
                    "graph": start + g,
                    "system": system,
                    "relative_throughput": found.values[:, j, g].tolist(),
                    "devices": found.figures.devices_used[:, j, g].tolist(),
                }

    def outcome(self, plan: Plan, rows: Sequence[Row]) -> Outcome:
        """Return Table 1 for each model beside the published one, and Figures 5 and 6."""
        found = outcome(plan, rows)
        if self.graphs is not None:
            return found
        note = f"The {self._count} graphs are generated; --graphs places the released ones."
        return replace(found, findings=(*found.findings, note))

    @property
    def _weights(self) -> Path | None:
        return None if self.weights is None else Path(self.weights)

    @property
    def _count(self) -> int:
        return QUICK_GRAPHS if self.quick else GRAPHS

    def _graphs(self, numbers: range | None = None) -> list[StreamGraph]:
        """Return the graphs of the study, or those of some numbers."""
        if self.graphs is not None:
            graphs = stored(self.graphs)
            return graphs if numbers is None else graphs[numbers.start : numbers.stop]
        return generated(self._count, self.seed, numbers or range(self._count))


def _hash_of(graph: StreamGraph) -> str:
    """Return the hash of a graph, followed by its constraints if it has any."""
    return f"{graph.sha256}{graph.constraints!r}" if graph.constraints else graph.sha256
