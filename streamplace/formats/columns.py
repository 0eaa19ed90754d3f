"""Headers of tables in a user's words: what a column means, and the unit of its numbers."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from streamplace.errors import GraphError, UsageError
from streamplace.util.suggest import closest_match
from streamplace.util.text import DECIMAL
from streamplace.util.units import EXAMPLES, UNITS, parsed

RESOURCE = "resources."
"""The columns of resources begin with it, such as ``resources.gpu``."""
OPERATOR, FROM, TO, TIME, SPEED = "operator", "from", "to", "cpu", "mips"
WORDS: Mapping[str, Sequence[str]] = {
    OPERATOR: ("name", "operator_name", "task", "node", "vertex"),
    FROM: ("source", "src", "upstream", "input", "inputs"),
    TO: ("target", "dst", "destination", "downstream", "output", "outputs"),
    "instructions": (),
    TIME: ("cpu_time", "time", "service_time", "processing_time"),
    "payload_bytes": ("payload", "payload_size", "tuple_size", "message_size", "record_size"),
    "memory_bytes": ("memory", "mem"),
    "selectivity": (),
    "parallelism": ("instances", "replicas"),
    "partitions": (),
    "source_rate": ("rate", "input_rate"),
    SPEED: (),
}
"""What a column is -> other words for it."""
KINDS = {
    "instructions": "instructions",
    TIME: "s",
    "payload_bytes": "bytes",
    "memory_bytes": "bytes",
    "source_rate": "rate",
    SPEED: "mips",
}
"""What a column is -> the kind of quantity of its numbers; others have no unit."""
NEED_UNIT = (TIME, *WORDS[TIME], *WORDS["payload_bytes"], *WORDS["memory_bytes"])
"""Words that do not say in which unit numbers are; they, or the cells, must have one."""
WITH_ERRORS = ("instructions", TIME, "payload_bytes", "selectivity")
ERROR = "_se"
"""The end of a column of standard errors."""
PER_TUPLE = re.compile(r"_per_(tuple|record|event|message|item)(?=_|$)", re.IGNORECASE)
SPELT: Mapping[str, Mapping[str, str]] = {
    "bytes": {"byte": "B", "bytes": "B", "b": "B"}
    | {unit.lower(): unit for unit in UNITS["bytes"] if unit.endswith("B")},
    "s": {"sec": "s", "second": "s", "seconds": "s"} | {unit.lower(): unit for unit in UNITS["s"]},
    "mips": {unit.lower(): unit for unit in UNITS["mips"]},
    "rate": dict.fromkeys(("s", "per_s", "per_second", "tuples_s", "tuples_per_s"), "/s")
    | dict.fromkeys(("events_per_s", "tuples_per_second", "events_per_second", "tps"), "/s")
    | {unit.replace("/", "_").lower(): unit for unit in UNITS["rate"] if len(unit) > len("/s")},
    "instructions": {},
}
"""Kind of quantity -> a unit as headers spell it -> the unit; others are as in `UNITS`."""
_MEANING = {other: what for what, others in WORDS.items() for other in (what, *others)}
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Parameters
    ----------
    header
        As the table has it.
    what
        A key of `WORDS`, or ``resources.NAME``; empty for a column without a header.
    unit
        The unit of numbers without one; None: the cells must have it.
    is_error
        Whether it has standard errors.
    """

    header: str
    what: str
    unit: str | None = ""
    is_error: bool = False

    @property
    def field(self) -> str:
        """The field of the numbers; times become instructions."""
        field = "instructions" if self.what == TIME else self.what
        return f"{field}{ERROR}" if self.is_error else field

    @property
    def expected(self) -> str:
        """What the cells must be."""
        kind = KINDS.get(self.what)
        if kind is None:
            return "must be a number"
        if self.unit is None:
            return f"needs a unit, in the cell or the header, such as {EXAMPLES[kind]}"
        return f"expected a number, or one with a unit, such as {EXAMPLES[kind]}"

    def number(self, cell: str) -> float | None:
        """Return the number in a cell, in the unit of the field; times in s. None: it has none."""
        kind, text = KINDS.get(self.what), cell.strip()
        is_bare = DECIMAL.fullmatch(text)
        if is_bare and not self.unit:
            return None if self.unit is None else float(text)
        if kind is None:
            return None
        try:
            return parsed(f"{text}{self.unit}" if is_bare else text, kind)
        except UsageError:
            return None


def columns_of(header: Sequence[str]) -> list[Column]:
    """Return the columns of a header.

    Raises
    ------
    GraphError
        If a column is unknown or has an unknown unit, or two have the same meaning.
    """
    found: list[Column] = []
    for text in header:
        column = _column(text)
        for other in found:
            if other.field == column.field != "":
                if other.header == text:
                    raise GraphError(f"column {text!r:.40} appears twice")
                both = f"{other.header!r:.40} and {text!r:.40} are both {column.field}"
                raise GraphError(f"columns {both}; leave out one")
        found.append(column)
    return found


def _column(header: str) -> Column:
    if not header or (header.startswith(RESOURCE) and header != RESOURCE):
        return Column(header, header)
    words = PER_TUPLE.sub("", "_".join(_WORD.findall(header)))
    name = words.lower()
    is_error = name.endswith(ERROR)
    name = name.removesuffix(ERROR)
    word = next((w for w in sorted(_MEANING, key=len, reverse=True) if _begins(name, w)), None)
    what = _MEANING.get(word or "")
    if word is None or what is None or (is_error and what not in WITH_ERRORS):
        meant = closest_match(name, _MEANING)
        known = ", ".join((*WORDS, f"{RESOURCE}NAME"))
        remedy = f"choose from {known}" if meant is None else f"did you mean {meant!r}?"
        raise GraphError(f"unknown column {header!r:.40}; {remedy}")
    if name == word:
        return Column(header, what, None if word in NEED_UNIT else "", is_error)
    kind, written = KINDS.get(what, ""), words[len(word) + 1 :][: len(name) - len(word) - 1]
    units = UNITS.get(kind, {})
    unit = written if written in units else SPELT.get(kind, {}).get(written.lower())
    if unit is None:
        known = f"write numbers as in {EXAMPLES[kind]}" if kind else f"{what} has none"
        raise GraphError(f"column {header!r:.40}: unknown unit {written!r:.40}; {known}")
    return Column(header, what, unit, is_error)


def _begins(name: str, word: str) -> bool:
    return name == word or name.startswith(f"{word}_")
