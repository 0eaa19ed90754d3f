"""The columns of a graph before they are checked, and those of its rows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from streamplace.errors import GraphError
from streamplace.problem.coerce import OperatorLike, StreamLike, operator_of, stream_of
from streamplace.problem.columns import OPERATOR_NUMBERS
from streamplace.problem.details import DETAILS, STREAM_DETAILS, Detail
from streamplace.problem.graph_checks import endpoints, index_of, labels_of, own_payload, owner_of
from streamplace.problem.operators import Operator, Stream
from streamplace.util.arrays import Ints
from streamplace.util.checks import check_type


@dataclass(frozen=True)
class Columns:
    """The columns of a graph.

    Attributes
    ----------
    index
        Operator name -> its index.
    ends
        (E, 2) operator indices, source and target of each stream.
    operator_numbers, stream_numbers
        Name -> (V,) or (E,) numbers; None stands for the default.
    requires, instance_of
        Operator index -> value, see `Operator`.
    details, stream_details
        Name of a detail -> operator or stream index -> value.
    """

    index: Mapping[str, int]
    ends: Ints
    operator_numbers: Mapping[str, ArrayLike | None]
    stream_numbers: Mapping[str, ArrayLike | None]
    requires: Mapping[int, tuple[str, ...]]
    instance_of: Mapping[int, str]
    details: Mapping[str, Mapping[int, object]]
    stream_details: Mapping[str, Mapping[int, object]]


def columns_of_rows(operators: Iterable[OperatorLike], streams: Iterable[StreamLike]) -> Columns:
    """Return the columns of operators and streams in rows.

    Raises
    ------
    GraphError
        If a row, a name, an end, a label or the name of an owner is not valid.
    """
    check_type("operators:", operators, Iterable, GraphError)
    check_type("streams:", streams, Iterable, GraphError)
    steps = [operator_of(i, row) for i, row in enumerate(operators)]
    edges = [stream_of(i, row) for i, row in enumerate(streams)]
    index = index_of([o.name for o in steps])
    ends = [endpoints(i, s, index) for i, s in enumerate(edges)]
    return Columns(
        index,
        np.array(ends, dtype=np.int32).reshape(-1, 2),
        {c.name: [getattr(o, c.name) for o in steps] for c in OPERATOR_NUMBERS},
        {
            "selectivity": [s.selectivity for s in edges],
            "payload_bytes": [own_payload(i, s) for i, s in enumerate(edges)],
            "selectivity_se": [s.selectivity_se for s in edges],
        },
        {i: labels_of(i, o) for i, o in enumerate(steps) if o.requires},
        {i: owner_of(i, o.instance_of) for i, o in enumerate(steps) if o.instance_of},
        _details(DETAILS, steps),
        _details(STREAM_DETAILS, edges),
    )


def _details(
    details: Sequence[Detail], rows: Sequence[Operator | Stream]
) -> dict[str, dict[int, object]]:
    """Return name of a detail -> index -> value, of the rows that have one."""
    return {
        detail.name: {
            i: value
            for i, row in enumerate(rows)
            if (value := getattr(row, detail.name)) is not detail.default
        }
        for detail in details
    }
