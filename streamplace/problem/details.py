"""Details of operators and streams: values that few of them have, stored by index.

To add one, add a field of `Operator` or `Stream` and one line here. Graphs without it keep their
hash.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from streamplace.errors import GraphError
from streamplace.problem.graph_checks import check_text, resources_of
from streamplace.problem.operators import Operator, Stream
from streamplace.problem.parallelism import (
    NO_SCALING,
    NO_SHARES,
    KeyShares,
    Scaling,
    count_of,
    parallelism_of,
    partitioning_of,
)
from streamplace.problem.resources import NO_RESOURCES, Resources, whole_amounts
from streamplace.problem.seconds import NO_SECONDS, Seconds
from streamplace.util.arrays import Floats
from streamplace.util.checks import check_int

MAX_SIZE = 2**63 - 1
"""The largest size of an axis of an operator's output."""


@dataclass(frozen=True)
class Detail:
    """A value that few operators, or streams, have.

    Parameters
    ----------
    name
        The field of `Operator` or `Stream`, and the attribute of `StreamGraph`: index -> value.
    default
        Value of those without it; it is empty.
    check
        Returns the value of an operator or stream from its index and the value of its row.
    """

    name: str
    default: object
    check: Callable[[int, Any], Any]

    def of(self, several: Mapping[int, Any]) -> dict[int, Any]:
        """Return the checked values by index, sorted, without those that are empty.

        Raises
        ------
        GraphError
            On a value that is not valid.
        """
        checked = {v: self.check(v, several[v]) for v in sorted(several)}
        return {v: value for v, value in checked.items() if value}


def _seconds_of(v: int, value: Mapping[str, float | None]) -> Seconds:
    return (
        value if isinstance(value, Seconds) else Seconds(value, _place(v, "seconds_on"), GraphError)
    )


def _shape_of(v: int, value: object) -> tuple[int, ...]:
    place = _place(v, "output_shape")
    if isinstance(value, str | Mapping) or not hasattr(value, "__iter__"):
        raise GraphError(f"{place}: must be a list of whole numbers (got {value!r:.40})")
    for size in value:
        check_int(f"{place}: a size", size, GraphError)
        if not 0 <= size <= MAX_SIZE:
            raise GraphError(f"{place}: sizes must be 0 to 2^63 - 1 (got {size})")
    return tuple(int(size) for size in value)


def _type_of(v: int, value: str) -> str:
    check_text(_place(v, "type"), value)
    return value


def _meta_op_of(v: int, value: str) -> str:
    check_text(_place(v, "meta_op"), value)
    return value


def _scaling_of(v: int, value: Mapping[str, float]) -> Scaling:
    return value if isinstance(value, Scaling) else Scaling(value, _place(v, "scaling"), GraphError)


def _key_shares_of(e: int, value: Mapping[str, float]) -> KeyShares:
    where = f"streams[{e}].key_shares"
    return value if isinstance(value, KeyShares) else KeyShares(value, where, GraphError)


def _counted(field: str) -> Detail:
    """Return a detail that is a number of instances or partitions."""
    return Detail(field, None, lambda v, value: count_of(_place(v, field), value))


def _place(v: int, field: str) -> str:
    return f"operators[{v}].{field}"


DETAILS = (
    Detail("resources", NO_RESOURCES, resources_of),
    Detail("seconds_on", NO_SECONDS, _seconds_of),
    Detail("type", "", _type_of),
    Detail("output_shape", (), _shape_of),
    Detail("meta_op", "", _meta_op_of),
    Detail("parallelism", None, lambda v, x: parallelism_of(_place(v, "parallelism"), x)),
    _counted("min_parallelism"),
    _counted("max_parallelism"),
    _counted("partitions"),
    Detail("scaling", NO_SCALING, _scaling_of),
)
STREAM_DETAILS = (
    Detail("partitioning", "", lambda e, x: partitioning_of(f"streams[{e}].partitioning", x)),
    Detail("key_shares", NO_SHARES, _key_shares_of),
)
OF_COUNTS = ("parallelism", "min_parallelism", "max_parallelism", "partitions", "scaling")
"""The details that say how many instances an operator has or may have."""
STRUCTURE = (
    "name",
    "names",
    "index",
    "requires",
    "instance_of",
    "constraints",
    "order",
    "stated_cores",
    "firing",
    "multicast",
    *(detail.name for detail in DETAILS),
)
"""Attributes that graphs of the same operators and streams share."""
SOURCE = ("source_rate", "source_share")
"""Attributes of the sources."""


def stream_details_of(several: Mapping[str, Mapping[int, object]]) -> dict[str, dict[int, Any]]:
    """Return the checked details of streams, by their field's name and then by index.

    Raises
    ------
    GraphError
        On a value that is not valid, and on shares of keys of a stream that is not divided by key.
    """
    checked = {one.name: one.of(several.get(one.name, {})) for one in STREAM_DETAILS}
    for e in checked["key_shares"]:
        if (kind := checked["partitioning"].get(e, "")) != "hash":
            got = f"{kind!r}" if kind else "no partitioning"
            fix = 'set "partitioning": "hash", or remove key_shares'
            raise GraphError(
                f"streams[{e}].key_shares: only a stream of partitioning 'hash' may have them "
                f"(got {got}); {fix}"
            )
    return checked


def details_of(row: Operator | Stream) -> dict[str, Any]:
    """Return the details that an operator or stream has as JSON values, by their field's name."""
    details = DETAILS if isinstance(row, Operator) else STREAM_DETAILS
    values = ((detail.name, getattr(row, detail.name)) for detail in details)
    return {name: json_value(value) for name, value in values if value}


def json_value(value: Any) -> Any:
    """Return a detail of an operator or device as a JSON value."""
    if isinstance(value, Resources):
        return whole_amounts(value)
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def by_index(several: Mapping[int, Any]) -> dict[int, Any]:
    """Return a detail of a graph, with plain dicts for mappings."""
    return {v: dict(x) if isinstance(x, Mapping) else x for v, x in several.items()}


def ranks_of(details: Mapping[str, Mapping[int, Any]], count: int) -> list[Floats]:
    """Return the rank of each stream, (E,), by its details as text; nothing if none has any.

    The order of streams, and the hash of the graph, then do not depend on the order in its file.
    """
    if not any(details.values()):
        return []
    texts = [json.dumps([json_value(of.get(e)) for of in details.values()]) for e in range(count)]
    rank = {text: float(i) for i, text in enumerate(sorted(set(texts)))}
    return [np.array([rank[text] for text in texts])]
