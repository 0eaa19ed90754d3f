"""Studies of workloads, each of which plain placers place and policies are trained on."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from streamplace.errors import FormatError
from streamplace.files.reading import read_bytes
from streamplace.papers.studies.study import Part, PlannedStudy, Row
from streamplace.papers.studies.table import Spread
from streamplace.problem.problem import Problem
from streamplace.util.suggest import near_file

LONG_SEARCH = "long search"
"""The system whose shortest makespan stands for the best known one."""


@dataclass(frozen=True)
class BaseWorkload:
    """A graph and the devices on which it is placed.

    Parameters
    ----------
    source
        ``own``: a graph of ours; otherwise who released it.
    graph
        The name of the graph.
    """

    source: str
    graph: str

    @property
    @abstractmethod
    def name(self) -> str:
        """The name in keys of units and in tables."""

    @property
    def settings(self) -> dict[str, Any]:
        """The parameters as JSON values."""
        return asdict(self)

    @abstractmethod
    def problem(self, folder: str | None = None) -> Problem:
        """Return the problem.

        Parameters
        ----------
        folder
            The folder of the released files, which only these need.

        Raises
        ------
        FormatError
            If the file cannot be read.
        """


W = TypeVar("W", bound=BaseWorkload)


class WorkloadStudy(PlannedStudy, Generic[W]):
    """A study with a unit for the plain placers on each workload, and one for each training.

    Attributes
    ----------
    kind
        The class of the workloads.
    """

    kind: ClassVar[Callable[..., Any]]

    @property
    @abstractmethod
    def workloads(self) -> Sequence[W]:
        """All workloads of the study."""

    @abstractmethod
    def placed(self, workload: W) -> Iterable[Row]:
        """Return the results of the plain placers, without what they have of the workload."""

    @abstractmethod
    def trainings(self) -> Iterable[tuple[str, W, int]]:
        """Return the system, the workload and the number of the seed of each training."""

    @abstractmethod
    def trained(self, system: str, workload: W, repeat: int) -> Iterable[Row]:
        """Return the results of a training."""

    def parts(self) -> Sequence[Part]:
        """Return the tables of plain placers and of trainings."""
        columns = tuple(field.name for field in fields(self.kind))  # type: ignore[arg-type]
        return [
            Part(columns, self._rows, self._plain_key, self._place),
            Part((*columns, "system", "repeat"), self._trainings, self._key, self._train),
        ]

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        yield from map(astuple, self.workloads)

    def _trainings(self) -> Iterator[tuple[Any, ...]]:
        for system, workload, repeat in self.trainings():
            yield (*astuple(workload), system, repeat)

    def _plain_key(self, **settings: Any) -> str:
        return f"plain placers: {self.kind(**settings).name}"

    def _key(self, system: str, repeat: int, **settings: Any) -> str:
        return f"{system}: {self.kind(**settings).name}, seed {repeat}"

    def _place(self, **settings: Any) -> Iterator[Row]:
        workload: W = self.kind(**settings)
        for row in self.placed(workload):
            yield {**workload.settings, **row}

    def _train(self, system: str, repeat: int, **settings: Any) -> Iterable[Row]:
        return self.trained(system, self.kind(**settings), repeat)


class WorkloadResults(Generic[W]):
    """The results of a study by workload and system.

    Parameters
    ----------
    rows
        The results of all units with their workloads, in the order of the plan.
    """

    def __init__(self, rows: Iterable[tuple[W, Row]]) -> None:
        self._rows: dict[W, dict[str, list[Row]]] = {}
        for workload, row in rows:
            self._rows.setdefault(workload, {}).setdefault(row["system"], []).append(row)

    @property
    def workloads(self) -> list[W]:
        """The workloads, in the order of the plan."""
        return list(self._rows)

    def systems(self, workload: W) -> list[str]:
        """Return the systems that have results on a workload."""
        return list(self._rows[workload])

    def rows(self, workload: W, system: str) -> list[Row]:
        """Return all rows of a system, in the order of the plan."""
        return self._rows.get(workload, {}).get(system, [])

    def final(self, workload: W, system: str) -> list[Row]:
        """Return the row of each seed or repeat of a system that counts in the end."""
        return self.rows(workload, system)

    def best_known(self, workload: W) -> float | None:
        """Return the shortest makespan of the long searches in seconds; None if none found one."""
        return self._shortest[workload]

    def over(self, workload: W, system: str, column: str = "best_s") -> Spread | None:
        """Return the final makespans of a system over the shortest one of the long searches.

        None if a makespan of either is not known.
        """
        return self.over_best(workload, self.final(workload, system), column)

    def over_best(self, workload: W, rows: Sequence[Row], column: str = "best_s") -> Spread | None:
        """Return the makespans of some rows over the shortest one of the long searches."""
        known = self.best_known(workload)
        if known is None:
            return None
        values = [row.get(column) for row in rows]
        return Spread.of([value / known for value in values if value is not None])

    @cached_property
    def _shortest(self) -> dict[W, float | None]:
        return {
            workload: min(
                (row["best_s"] for row in systems[LONG_SEARCH] if row["best_s"] is not None),
                default=None,
            )
            for workload, systems in self._rows.items()
        }


def file_hashes(folder: str, names: Sequence[str], advice: str) -> dict[str, str]:
    """Return a hash of each released file.

    Parameters
    ----------
    names
        The files, relative to the folder.
    advice
        What the folder needs, for messages.

    Raises
    ------
    FormatError
        If the folder or files in it are missing or cannot be read.
    """
    path = Path(folder)
    if not path.is_dir():
        fault = "is not a folder" if path.exists() else f"no such folder{near_file(path)}"
        raise FormatError(f"{folder}: {fault}; {advice}")
    missing = [name for name in names if not (path / name).is_file()]
    if missing:
        raise FormatError(f"{folder}: has no {', '.join(missing)}; {advice}")
    return {name: sha256(read_bytes(path / name)).hexdigest()[:16] for name in names}
