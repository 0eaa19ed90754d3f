"""Columns of a graph from rows, and their checks; every message names the row or column."""

import heapq
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, fields
from itertools import islice
from math import inf
from numbers import Real
from typing import Any, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike

from streamplace.errors import Fault, GraphError
from streamplace.problem.constraints import Constraints
from streamplace.problem.operators import (
    OPERATOR_DETAILS,
    OPERATOR_FIELDS,
    OPERATOR_NUMBERS,
    STREAM_DETAILS,
    STREAM_FIELDS,
    STREAM_NUMBERS,
    UNKNOWN,
    Detail,
    Field,
    Number,
    Operator,
    Stream,
    check_text,
    json_value,
)
from streamplace.problem.parallelism import FLINK
from streamplace.util.arrays import Floats, Ints
from streamplace.util.checks import check_number, check_type, index_by_name
from streamplace.util.suggest import candidates, did_you_mean, valid_choices
from streamplace.util.text import MAX_FAULTS, PlacedFault, joined_faults

STREAMS = ("streams",)
"""The place of a fault of all streams together."""
NAMES_SHOWN = 6
ROUNDING = 1e-9
MAX_RELATIVE_ERROR = 1_000.0
"""The largest standard error of a number, relative to the number."""
GUESSED = {"typical": ("instructions", "payload_bytes"), "typical_streams": ("selectivity",)}
"""Column of the numbers that are typical values -> the columns that may be among them."""
STREAM_PAYLOAD = next(field for field in STREAM_NUMBERS if field.name == "payload_bytes")
Row = TypeVar("Row", Operator, Stream)
OperatorLike = Operator | tuple[Any, ...] | Mapping[str, Any]
"""An operator, a tuple of its fields such as ``("parse", 90_000, 2_500)``, or a mapping of them."""
StreamLike = Stream | tuple[Any, ...] | Mapping[str, Any]
"""A stream, a tuple of its fields such as ``("parse", "store", 0.5)``, or a mapping of them."""
Values = Mapping[str, Any]
"""Attribute of `StreamGraph` -> (V,) or (E,) numbers, or index -> value for details; None, and an
absent attribute, stand for the default."""
Firing = Literal["each", "all"]
Multicast = Literal["none", "device", "all"]


def listed(names: Iterable[str]) -> str:
    """Return names for a message: the first in quotes, and the number of others."""
    quoted = [repr(name) for name in names]
    more = len(quoted) - NAMES_SHOWN
    return ", ".join(quoted[:NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


def attributes_of(
    index: Mapping[str, int],
    ends: Ints,
    values: Values,
    name: str,
    source_rate: float | None,
    source_shares: Mapping[str, float] | None,
    source_rates: Mapping[str, float] | None,
    constraints: Constraints | None,
    firing: Firing,
    multicast: Multicast,
) -> dict[str, Any]:
    """Return the attributes of a graph, checked; streams may come in any order."""
    check_text("name", name)
    check_semantics(firing, multicast)
    names = tuple(index)
    found: dict[str, Any] = {"firing": firing, "multicast": multicast, "name": name}
    found |= {"names": names, "index": index}
    found |= details_of_operators(values)
    found["stated_cores"] = frozenset()
    found["constraints"] = Constraints() if constraints is None else Constraints.of(constraints)
    found |= numbers_of_operators(values, len(names))
    numbers = numbers_of_streams(values, ends, found["payload_bytes"])
    found["order"] = acyclic_order(names, ends)
    found |= sorted_streams(found["order"], ends, numbers, values)[0]
    found["sources"] = sources = indices_not_in(len(names), found["stream_target"])
    for v in sources.tolist():
        if found["partitions"].get(v) == FLINK:
            raise GraphError(
                f"operators[{v}].partitions: 'flink' is for operators with inputs; state the "
                "number that the source reads"
            )
    rates = source_rate, source_shares, source_rates
    found["source_rate"], found["source_share"] = rate_and_shares(*rates, names, sources)
    return found


def columns_of_rows(
    operators: Iterable[OperatorLike], streams: Iterable[StreamLike]
) -> tuple[dict[str, int], Ints, Values]:
    """Return the columns of rows: name -> index, the ends of streams, (E, 2), and the fields.

    Raises
    ------
    GraphError
        If a row, a name, an end or the payload of a stream is not valid.
    """
    check_type("operators:", operators, Iterable, GraphError)
    check_type("streams:", streams, Iterable, GraphError)
    steps = [row_of(Operator, f"operators[{i}]", row) for i, row in enumerate(operators)]
    edges = [row_of(Stream, f"streams[{i}]", row) for i, row in enumerate(streams)]
    index = index_of([o.name for o in steps])
    ends = endpoints([each.source for each in edges], [each.target for each in edges], index)
    own = {"stream_payload_bytes": [own_payload(i, s) for i, s in enumerate(edges)]}
    values = {field.column: _column(field, steps) for field in OPERATOR_FIELDS}
    values |= {field.column: _column(field, edges) for field in STREAM_FIELDS}
    return index, ends, values | own


def _column(field: Field, rows: Sequence[Operator | Stream]) -> Any:
    """Return the values of a field: of all rows, or by index of those that have a detail."""
    name, default = field.name, field.default
    if isinstance(field.kind, Detail):
        values = ((i, getattr(row, name)) for i, row in enumerate(rows))
        return {i: value for i, value in values if value is not default}
    return [getattr(row, name) for row in rows]


def row_of(cls: type[Row], where: str, row: object) -> Row:
    """Return a row; refuse a missing or unknown field, and a value of the wrong type."""
    if isinstance(row, cls):
        return row
    known = [each.name for each in fields(cls)]
    if isinstance(row, Mapping):
        values = dict(row)
    elif isinstance(row, Sequence) and not isinstance(row, str):
        if len(row) > len(known):
            raise GraphError(f"{where}: expected at most {len(known)} values (got {len(row)})")
        values = dict(zip(known, row, strict=False))
    else:
        expected = f"sp.{cls.__name__}, a tuple or a mapping"
        raise GraphError(f"{where}: must be {expected}, not {type(row).__name__}")
    if unknown := [name for name in values if name not in known]:
        raise GraphError(f"{where}: unknown field {unknown[0]!r}{candidates(unknown[0], known)}")
    needed = [each.name for each in fields(cls) if each.default is MISSING]
    if missing := [name for name in needed if name not in values]:
        raise GraphError(f"{where}: missing field {missing[0]!r}")
    several = OPERATOR_FIELDS if cls is Operator else STREAM_FIELDS
    described = {each.name: each for each in several}
    for name, value in values.items():
        _check_type(f"{where}.{name}", described.get(name), value)
    return cls(**values)


def _check_type(where: str, described: Field | None, value: object) -> None:
    """Refuse a value of the wrong type; names, which have no `Field`, are text."""
    if described is None:
        accepted, expected = isinstance(value, str), "text"
    elif isinstance(described.kind, Detail):
        accepted, expected = described.kind.accepts(value), described.kind.expected
    else:
        # None is the default of a stream's payload; `column_of` refuses it for an operator's.
        is_default = described.name == "payload_bytes" and value is None
        accepted = is_default or (isinstance(value, Real) and not isinstance(value, bool))
        expected = "a number"
    if not accepted:
        raise GraphError(f"{where}: must be {expected} (got {value!r:.40})")


def index_of(names: Sequence[str]) -> dict[str, int]:
    """Return name -> index; refuse names that are empty, duplicate or not encodable."""
    if not names:
        raise GraphError("operators: a graph needs at least one operator")
    with suppress(TypeError, UnicodeEncodeError):  # all at once, as most graphs are valid
        "".join(names).encode()
        index = {name: v for v, name in enumerate(names)}
        if len(index) == len(names) and "" not in index:
            return index
    for v, name in enumerate(names):
        check_text(f"operators[{v}].name", name)
        if not name:
            raise GraphError(f"operators[{v}].name: is empty")
    return index_by_name("operators", names, GraphError)


def check_indices(
    kind: str, fields: Iterable[Field], columns: Mapping[str, Any], count: int
) -> None:
    """Refuse details, index -> value, with an index that is not below the count."""
    for field in fields:
        if wrong := [i for i in columns.get(field.column) or () if not 0 <= i < count]:
            raise GraphError(f"{field.column}: unknown {kind} index {wrong[0]}")


def endpoints(sources: Sequence[str], targets: Sequence[str], index: Mapping[str, int]) -> Ints:
    """Return the indices, (E, 2), of the source and target of each stream, given their names."""
    try:
        ends = [[index[name] for name in names] for names in (sources, targets)]
    except KeyError:
        both = enumerate(zip(sources, targets, strict=True))
        unknown = [(i, end) for i, pair in both for end in pair if end not in index]
    else:
        return np.ascontiguousarray(np.array(ends, dtype=np.int32).T)
    first = islice(dict.fromkeys(end for _, end in unknown), MAX_FAULTS)
    what = {end: f"unknown operator {end!r}{did_you_mean(end, index)}" for end in first}
    faults = (PlacedFault(f"streams[{i}]", what[end]) for i, end in unknown if end in what)
    raise GraphError(joined_faults(faults, len(unknown)))


def ends_of(values: ArrayLike, count: int) -> Ints:
    """Return (E, 2) indices of operators; an empty array may have any shape."""
    ends = np.asarray(values)
    if ends.size == 0:
        return np.empty((0, 2), dtype=np.int32)
    if ends.dtype.kind not in "iu" or ends.shape[1:] != (2,):
        got = f"{ends.dtype} of shape {ends.shape}"
        raise GraphError(f"streams: ends must be integers of shape (E, 2) (got {got})")
    if not 0 <= ends.min() <= ends.max() < count:
        raise GraphError(f"streams: ends has an operator index outside 0..{count - 1}")
    return ends.astype(np.int32)


def own_payload(i: int, stream: Stream) -> float:
    """Return the payload of stream i in bytes; NaN stands for that of its source operator."""
    if stream.payload_bytes is None:
        return float("nan")
    check_number(f"streams[{i}].payload_bytes:", stream.payload_bytes, GraphError)
    if stream.payload_bytes != stream.payload_bytes:
        raise GraphError(f"streams[{i}].payload_bytes: must be finite and at least 0 (got nan)")
    return stream.payload_bytes


def column_of(rows: str, field: Field, values: ArrayLike | None, length: int) -> Floats:
    """Return a column of finite numbers in their range, or NaN for unknown ones if allowed.

    Messages begin with `rows`, such as ``operators``. None stands for the default.
    """
    name, kind = field.name, field.kind
    assert isinstance(kind, Number)
    read = np.full(length, field.default) if values is None else np.asarray(values)
    if read.dtype.kind in "OUS" and read.shape == (length,):  # text makes all values text
        for i, value in enumerate(values if isinstance(values, Sequence) else read.tolist()):
            check_number(f"{rows}[{i}].{name}:", value, GraphError)
        read = read.astype(np.float64)  # from large integers or fractions
    if read.shape != (length,) or (length and read.dtype.kind not in "iuf"):
        raise GraphError(f"{rows}: {name} must be a column of {length} numbers")
    numbers = read.astype(np.float64) + 0.0  # turns -0 into 0
    fine = np.isfinite(numbers) & (numbers >= kind.least) & (numbers <= kind.most)
    if kind.whole:
        fine &= numbers == np.floor(numbers)
    if kind.may_be_unknown:
        numbers[np.isnan(numbers)] = UNKNOWN  # one bit pattern, since the graph is hashed
        fine |= np.isnan(numbers)
    wrong = np.flatnonzero(~fine)
    if len(wrong):
        first = wrong[0]
        limits = f"at least {kind.least:g}"
        if kind.most < np.inf:
            limits = f"{kind.least:g} to {kind.most:,.0f}"
        wanted = f"a whole number, {limits}" if kind.whole else f"finite and {limits}"
        raise GraphError(f"{rows}[{first}].{name}: must be {wanted} (got {numbers[first]:g})")
    return numbers


def check_errors(rows: str, fields: Iterable[Field], columns: Mapping[str, Floats]) -> None:
    """Refuse a standard error that is absurdly large for its number, unless that is 0 or unknown.

    Messages begin with `rows`, such as ``operators``.
    """
    most = MAX_RELATIVE_ERROR * (1 + ROUNDING)  # expansion multiplies both, with rounding
    for field in fields:
        if not field.error_of:
            continue
        values, errors = columns[field.error_of], columns[field.column]
        wrong = np.flatnonzero((values > 0.0) & (errors / most > values))
        if len(wrong):
            first = wrong[0]
            limit = f"at most {MAX_RELATIVE_ERROR:,.0f} times {field.error_of}, {values[first]:g}"
            expected = f"must be {limit} (got {errors[first]:g})"
            raise GraphError(f"{rows}[{first}].{field.name}: {expected}")


def errors_with(new: Values, before: Values) -> dict[str, Floats]:
    """Return the standard errors of new numbers by column, where those of `before` change.

    A number that is replaced loses the error of the former one: it is exact unless `new` says
    otherwise. Columns that are not valid are left to the checks of the numbers.
    """
    found = {}
    for each in (*OPERATOR_NUMBERS, *STREAM_NUMBERS):
        if each.error_of not in new or each.column in new:
            continue
        now, former = np.asarray(new[each.error_of]), before[each.error_of]
        if now.shape == former.shape and now.dtype.kind in "iufO":
            found[each.column] = np.where(np.equal(now, former), before[each.column], 0.0)
    return found


def guesses_with(new: Values, before: Values) -> dict[str, Mapping[int, Any]]:
    """Return which numbers are typical values by column, where new numbers replace some of them."""
    found: dict[str, Mapping[int, Any]] = {}
    for column, kinds in GUESSED.items():
        replaced = {kind: np.asarray(new[kind]) for kind in kinds if kind in new}
        if column in new or not before[column]:
            continue
        same = {
            kind: now == before[kind]
            for kind, now in replaced.items()
            if now.shape == before[kind].shape
        }
        found[column] = {
            i: tuple(kind for kind in several if kind not in same or same[kind][i])
            for i, several in before[column].items()
        }
    return found


def numbers_of_operators(
    values: Values, count: int, kept: Values | None = None
) -> dict[str, Floats]:
    """Return the checked numbers of operators by column, those of `kept` where none is stated."""
    found = {
        each.column: kept[each.column]
        if kept and values.get(each.column) is None
        else column_of("operators", each, values.get(each.column), count)
        for each in OPERATOR_NUMBERS
    }
    check_errors("operators", OPERATOR_NUMBERS, found)
    return found


def details_of_operators(
    values: Values, kept: Values | None = None
) -> dict[str, Mapping[int, Any]]:
    """Return the checked details of operators, those of `kept` where none is stated."""
    details: dict[str, Mapping[int, Any]] = {
        each.column: kept[each.column]
        if kept and values.get(each.column) is None
        else each.by_index("operators", values.get(each.column) or {})
        for each in OPERATOR_DETAILS
    }
    _check_guesses("operators", "typical", details)
    return details


def _check_guesses(where: str, column: str, details: Mapping[str, Mapping[int, Any]]) -> None:
    """Refuse names of numbers that cannot be typical values."""
    for i, kinds in details[column].items():
        for kind in kinds:
            if kind not in GUESSED[column]:
                choices = valid_choices(kind, GUESSED[column])
                raise GraphError(f"{where}[{i}].typical: unknown {kind!r}{choices}")


def numbers_of_streams(values: Values, ends: Ints, of_operators: Floats) -> dict[str, Floats]:
    """Return the checked numbers of streams by column; `of_operators` has the payload of each."""
    payload = _payload_of_streams(ends, values.get(STREAM_PAYLOAD.column), of_operators)
    return {STREAM_PAYLOAD.column: payload} | {
        each.column: column_of("streams", each, values.get(each.column), len(ends))
        for each in STREAM_NUMBERS
        if each is not STREAM_PAYLOAD
    }


def _payload_of_streams(ends: Ints, values: ArrayLike | None, of_operators: Floats) -> Floats:
    """Return the payload of each stream, (E,) bytes; NaN, or None, is that of its source."""
    own = np.asarray(np.full(len(ends), UNKNOWN) if values is None else values, dtype=np.float64)
    if own.shape != (len(ends),):
        raise GraphError(f"streams: payload_bytes must be a column of {len(ends)} numbers")
    payload = np.where(np.isnan(own), of_operators[ends[:, 0]], own)
    return column_of("streams", STREAM_PAYLOAD, payload, len(ends))


def acyclic_order(names: Sequence[str], ends: Ints) -> Ints:
    """Return the operators in topological order, (V,); refuse a self-loop or a cycle."""
    if len(loops := np.flatnonzero(ends[:, 0] == ends[:, 1])):
        looped = names[ends[loops[0], 0]]
        raise GraphError(f"streams[{loops[0]}]: {looped!r} feeds itself")
    order = topological_order(len(names), ends)
    if len(order) < len(names):
        cycle = " -> ".join(names[v] for v in first_cycle(len(names), ends, order))
        raise GraphError(Fault(f"the graph has a cycle: {cycle}", place=STREAMS))
    return order


def indices_not_in(count: int, ends: Ints) -> Ints:
    """Return the indices 0..count-1 that are not in `ends`, in increasing order."""
    absent = np.ones(count, dtype=bool)
    absent[ends] = False
    found = np.flatnonzero(absent).astype(np.int32)
    found.flags.writeable = False
    return found


def checked_rate(source_rate: float | None) -> float | None:
    """Return a source rate in tuples/s as a float, or None."""
    if source_rate is None:
        return None
    check_number("source_rate:", source_rate, GraphError)
    if not 0 < float(source_rate) < inf:
        raise GraphError(f"source_rate: must be finite and above 0 (got {source_rate})")
    return float(source_rate)


def shares_of(shares: Mapping[str, float] | None, names: Sequence[str], sources: Ints) -> Floats:
    """Return each operator's share of the source rate, (V,); sources share equally by default."""
    if shares is None:
        column = np.zeros(len(names))
        column[sources] = 1.0 / len(sources)
        return column
    column, total = _of_sources("source_shares", shares, names, sources)
    if abs(total - 1.0) > ROUNDING:
        raise GraphError(f"source_shares: must sum to 1 (got {total:g})")
    return column


def rate_and_shares(
    rate: float | None,
    shares: Mapping[str, float] | None,
    rates: Mapping[str, float] | None,
    names: Sequence[str],
    sources: Ints,
) -> tuple[float | None, Floats]:
    """Return the source rate in tuples/s, if there is one, and each operator's share of it, (V,).

    Parameters
    ----------
    rate, shares, rates
        The arguments ``source_rate``, ``source_shares`` and ``source_rates`` of a graph. `rates`
        stands for both others, with which it must agree where both are stated.
    """
    rate, by_shares = checked_rate(rate), shares_of(shares, names, sources)
    if rates is None:
        return rate, by_shares
    column, total = _of_sources("source_rates", rates, names, sources)
    if not 0 < total < inf:
        raise GraphError(f"source_rates: must add up to a finite rate above 0 (got {total:g})")
    if rate is not None and abs(rate - total) > ROUNDING * total:
        sums = f"add up to {total:.9g} tuples/s, but source_rate is {rate:.9g}"
        raise GraphError(f"source_rates: {sums}; leave out one of them")
    column /= total
    wrong = np.flatnonzero(np.abs(by_shares - column) > ROUNDING)
    if shares is not None and len(wrong):
        v = wrong[0]
        found = f"{column[v]:.9g} of the rate enters at {names[v]!r}, but source_shares says"
        raise GraphError(f"source_rates: {found} {by_shares[v]:.9g}; leave out one of them")
    return total, column


def _of_sources(
    field: str, values: Mapping[str, float], names: Sequence[str], sources: Ints
) -> tuple[Floats, float]:
    """Return a number of each source, (V,), 0 for other operators; and the sum, perhaps inf."""
    check_type(f"{field}:", values, Mapping, GraphError)
    column, index = np.zeros(len(names)), {names[v]: int(v) for v in sources}
    if index.keys() != values.keys():
        parts = (
            ("not one of them", sorted(values.keys() - index.keys())),
            ("missing", sorted(index.keys() - values.keys())),
        )
        faults = "; ".join(f"{what}: {listed(several)}" for what, several in parts if several)
        raise GraphError(f"{field}: must name exactly the operators without inputs; {faults}")
    for source, value in values.items():
        check_number(f"{field}[{source!r}]:", value, GraphError)
        if not 0 <= float(value) < inf:
            expected = f"must be finite and at least 0 (got {value})"
            raise GraphError(f"{field}[{source!r}]: {expected}")
        column[index[source]] = value + 0.0
    with np.errstate(over="ignore"):
        return column, float(column.sum())


def topological_order(count: int, ends: Ints) -> Ints:
    """Return the vertices 0..count-1 in topological order; ties go to the smallest index.

    Vertices on a cycle or downstream of one are missing from the result.
    """
    if np.all(ends[:, 0] < ends[:, 1]):
        return np.arange(count, dtype=np.int32)
    by_source = np.argsort(ends[:, 0], kind="stable")
    targets = ends[by_source, 1].tolist()
    first = np.searchsorted(ends[by_source, 0], np.arange(count + 1)).tolist()
    waiting = np.bincount(ends[:, 1], minlength=count).tolist()
    ready = [v for v in range(count) if waiting[v] == 0]
    order = []
    while ready:
        v = heapq.heappop(ready)
        order.append(v)
        for target in targets[first[v] : first[v + 1]]:
            waiting[target] -= 1
            if waiting[target] == 0:
                heapq.heappush(ready, target)
    return np.array(order, dtype=np.int32)


def sorted_streams(
    order: Ints, ends: Ints, numbers: Mapping[str, Floats], values: Values
) -> tuple[dict[str, Any], Ints]:
    """Return the columns of streams, sorted by source in `order`, target, numbers and details.

    Returns
    -------
    columns
        Attribute of `StreamGraph` -> its value.
    before
        (E,) the previous index of each stream.
    """
    check_errors("streams", STREAM_NUMBERS, numbers)
    details = _details_of_streams(values)
    ranks = _ranks_of(details, len(ends))
    by = _by_keys(order, ends, *(numbers[each.column] for each in STREAM_NUMBERS), *ranks)
    if ranks:
        now = {before: e for e, before in enumerate(by.tolist())}
        details = {
            name: {now[e]: values[e] for e in sorted(values, key=now.__getitem__)}
            for name, values in details.items()
        }
    source, target = (np.ascontiguousarray(ends[by, end]) for end in (0, 1))
    sorted_numbers = {name: column[by] for name, column in numbers.items()}
    return {**details, "stream_source": source, "stream_target": target, **sorted_numbers}, by


def _by_keys(order: Ints, ends: Ints, *numbers: Floats) -> Ints:
    """Return the streams, (E,) indices, sorted by source in `order`, target and numbers, (E,)."""
    position = np.empty(len(order), dtype=np.int32)
    position[order] = np.arange(len(order), dtype=np.int32)
    keys: tuple[Floats | Ints, ...] = (*reversed(numbers), ends[:, 1], position[ends[:, 0]])
    return np.lexsort(keys).astype(np.int32)


def _details_of_streams(several: Values) -> dict[str, dict[int, Any]]:
    """Return the checked details of streams, by column and then by index.

    Raises
    ------
    GraphError
        On a value that is not valid, and on shares of keys of a stream that is not divided by key.
    """
    checked: dict[str, dict[int, Any]] = {}
    for each in STREAM_DETAILS:
        checked[each.column] = each.by_index("streams", several.get(each.column) or {})
    _check_guesses("streams", "typical_streams", checked)
    for e in checked["key_shares"]:
        if (kind := checked["partitioning"].get(e, "")) != "hash":
            got = f"{kind!r}" if kind else "no partitioning"
            fix = 'set "partitioning": "hash", or remove key_shares'
            raise GraphError(
                f"streams[{e}].key_shares: only a stream of partitioning 'hash' may have them "
                f"(got {got}); {fix}"
            )
    return checked


def _ranks_of(details: Mapping[str, Mapping[int, Any]], count: int) -> list[Floats]:
    """Return the rank of each stream, (E,), by its details as text; nothing if none has any.

    The order of streams, and the hash of the graph, then do not depend on the order in its file.
    """
    if not any(details.values()):
        return []
    texts = [json.dumps([json_value(of.get(e)) for of in details.values()]) for e in range(count)]
    rank = {text: float(i) for i, text in enumerate(sorted(set(texts)))}
    return [np.array([rank[text] for text in texts])]


def first_cycle(count: int, ends: Ints, order: Ints) -> list[int]:
    """Return one cycle, with its first vertex repeated at the end, from an incomplete `order`."""
    import networkx  # noqa: PLC0415 - heavy, and needed only for a graph with a cycle

    left = np.ones(count, dtype=bool)
    left[order] = False
    rest: networkx.DiGraph[int] = networkx.DiGraph()
    rest.add_edges_from(ends[left[ends].all(axis=1)].tolist())
    cycle = [a for a, _ in networkx.find_cycle(rest)]
    return [*cycle, cycle[0]]


def check_semantics(firing: object, multicast: object) -> None:
    """Raise GraphError unless both are known."""
    for what, value, kind in (("firing", firing, Firing), ("multicast", multicast, Multicast)):
        *first, last = get_args(kind)
        if value not in (*first, last):
            expected = f"must be {', '.join(first)} or {last}"
            raise GraphError(f"{what}: {expected} (got {value!r:.40})")
