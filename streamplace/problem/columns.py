"""The numeric columns of a graph, and the hash of a graph.

To add a number in a later version, add one line here. Graphs that do not use it keep their hash,
since an added column enters the hash only if some value differs from its default.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf

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
        Value if not specified; None if the number is required.
    may_be_unknown
        Whether NaN may stand for a number that is not yet known.
    least, most
        Smallest and largest value allowed.
    whole
        Whether values must be whole numbers.
    added
        Whether a version after 0.2 added it. Columns of version 0.2 are always hashed.
    """

    name: str
    default: float | None = None
    may_be_unknown: bool = False
    least: float = 0.0
    most: float = inf
    whole: bool = False
    added: bool = False


MAX_CORES = 1_000_000
"""The largest number of cores of a device, and that an operator can use."""

OPERATOR_NUMBERS = (
    NumberColumn("instructions", may_be_unknown=True),
    NumberColumn("payload_bytes", may_be_unknown=True),
    NumberColumn("memory_bytes", default=0.0),
    NumberColumn("cores", default=1.0, least=1.0, most=MAX_CORES, whole=True, added=True),
    NumberColumn("instructions_se", default=0.0, added=True),
    NumberColumn("payload_bytes_se", default=0.0, added=True),
)
SELECTIVITY = NumberColumn("selectivity", default=1.0, may_be_unknown=True)
SELECTIVITY_SE = NumberColumn("selectivity_se", default=0.0, added=True)
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
        Values hashed as JSON.
    always
        Columns that are always hashed, in order.
    added
        Columns that later versions added; hashed only if some value differs from the default.
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
