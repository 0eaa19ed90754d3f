"""The columns of numbers that a graph has, and the hash of a graph.

A number that a later version adds is one line here: files that lack it keep their hash, since such
a column enters the hash only where it differs from its default.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class NumberColumn:
    """A number that every operator, or every stream, has.

    Parameters
    ----------
    name
        The field of `Operator` or `Stream`.
    default
        Its value where nothing is said; None: there is none.
    may_be_unknown
        Whether NaN stands for a number that has to be found out before the graph is placed.
    added
        Whether it is younger than version 0.2, whose columns are always hashed.
    """

    name: str
    default: float | None = None
    may_be_unknown: bool = False
    added: bool = False


OPERATOR_NUMBERS = (
    NumberColumn("instructions", may_be_unknown=True),
    NumberColumn("payload_bytes", may_be_unknown=True),
    NumberColumn("memory_bytes", default=0.0),
)
SELECTIVITY = NumberColumn("selectivity", default=1.0, may_be_unknown=True)
STREAM_PAYLOAD = NumberColumn("payload_bytes", may_be_unknown=True)


def graph_hash(
    header: Iterable[object],
    always: Iterable[NDArray[np.generic]],
    added: Mapping[NumberColumn, NDArray[np.generic]],
) -> str:
    """Return the SHA-256 of a graph.

    Parameters
    ----------
    header
        What is hashed as JSON.
    always
        Columns that are hashed whatever they hold, in order.
    added
        Columns that later versions added; one at its default everywhere is left out.
    """
    digest = hashlib.sha256(json.dumps(list(header)).encode())
    for values in always:
        digest.update(_bytes_of(values))
    for column, values in added.items():
        if (values != column.default).any():
            digest.update(column.name.encode() + _bytes_of(values))
    return digest.hexdigest()


def _bytes_of(values: NDArray[np.generic]) -> bytes:
    return values.astype(values.dtype.newbyteorder("<")).tobytes()
