"""The unknown numbers of a graph, and which of them matter."""

from functools import cached_property
from math import isnan

import numpy as np

from streamplace.problem.graph_checks import listed
from streamplace.problem.graph_columns import GraphColumns
from streamplace.util.arrays import Bools


class UnknownNumbers(GraphColumns):
    """The part of `StreamGraph` that says which numbers are unknown."""

    @cached_property
    def flowing(self) -> Bools:
        """Whether tuples can get to each operator, (V,).

        None do if, on every way from a source, the source's share or a selectivity is 0. An unknown
        selectivity counts as above 0.
        """
        if self.firing == "all":
            return np.ones(len(self.names), np.bool_)
        found: list[bool] = (self.source_share > 0.0).tolist()
        open_to = self.selectivity != 0.0
        ends = self.stream_source[open_to].tolist(), self.stream_target[open_to].tolist()
        for u, v in zip(*ends, strict=True):  # in topological order
            found[v] = found[v] or found[u]
        column = np.array(found)
        column.flags.writeable = False
        return column

    @property
    def carrying(self) -> Bools:
        """Whether tuples can be on each stream, (E,)."""
        passes: Bools = (self.selectivity != 0.0) | (self.firing == "all")
        carrying: Bools = self.flowing[self.stream_source] & passes
        return carrying

    @cached_property
    def unknown(self) -> dict[str, list[str]]:
        """Kind of number -> operators or streams that lack it; empty if the graph can be placed.

        Numbers that cannot matter are left out: those of operators and streams that get no tuples,
        and selectivities if `firing` is ``all``. Instances appear under the name of their operator,
        which is the one to use in ``--costs``.
        """
        missing = self._missing
        if not any(column.any() for column in missing.values()):
            return {}
        names, carrying = self.owners, self.carrying
        needs = {
            "instructions": self.flowing,
            "payload_bytes": carrying,
            "selectivity": carrying & (self.firing != "all"),
        }
        at = {kind: np.flatnonzero(missing[kind] & needs[kind]).tolist() for kind in missing}
        senders = np.unique(self.stream_source[at["payload_bytes"]]).tolist()
        ends = ((self.stream_source[e], self.stream_target[e]) for e in at["selectivity"])
        unknown = {
            "instructions": [names[v] for v in at["instructions"]],
            "payload_bytes": [names[v] for v in senders],
            "selectivity": [f"{names[u]}->{names[v]}" for u, v in ends],
        }
        return {kind: list(dict.fromkeys(found)) for kind, found in unknown.items() if found}

    @cached_property
    def unknown_without_tuples(self) -> list[str]:
        """The operators that get no tuples and lack numbers, which cannot matter."""
        missing = self._missing
        lacks = missing["instructions"].copy()
        for of_streams in ("payload_bytes", "selectivity"):
            lacks[self.stream_source[missing[of_streams]]] = True
        if not lacks.any():
            return []
        idle = np.flatnonzero(lacks & ~self.flowing).tolist()
        return list(dict.fromkeys(self.owners[v] for v in idle))

    def has_plain_work(self, v: int) -> bool:
        """Return whether an operator can run where no time is stated.

        It can if its instructions are known, or if they cannot matter because it gets no tuples.
        """
        return not isnan(self.instructions[v]) or not self.flowing[v]

    @cached_property
    def _missing(self) -> dict[str, Bools]:
        """Kind of number -> the operators, (V,), or streams, (E,), that lack it."""
        without_work = np.isnan(self.instructions)
        without_work[[v for v, seconds in self.seconds_on.items() if seconds.has_times]] = False
        return {
            "instructions": without_work,
            "payload_bytes": np.isnan(self.stream_payload_bytes),
            "selectivity": np.isnan(self.selectivity),
        }

    @property
    def lacking(self) -> list[str]:
        """Descriptions of the unknown numbers, one line per kind of number."""
        return [f"{kind} of {listed(names)}" for kind, names in self.unknown.items()]
