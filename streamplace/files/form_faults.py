"""Messages about text that is not JSON, and about values that a form refuses."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from json import JSONDecodeError
from typing import Any

from pydantic import BaseModel, ValidationError

from streamplace.files.schema_fields import Place, fields_at, without_tags
from streamplace.util.suggest import NEAR, closest_match
from streamplace.util.text import PlacedFault, joined_faults
from streamplace.util.units import EXAMPLES, kind_at

MAX_SHOWN = 40  # characters of a value
MAX_COMPARED = 100  # unknown fields that are compared with a missing one
MAX_DESCRIBED = 10_000  # faults; each takes about as long as the check of its value
BRANCH = re.compile(r"constrained-\w+|literal\[.*\]")  # names of types of a union in places
NUMBER = re.compile(r"[-+]?\d{1,300}(\.\d{0,300})?([eE][-+]?\d{1,3})?")
_HTML = re.compile(r"\s*<(!doctype html|html)\b", re.IGNORECASE)
KEY = "[key]"  # what pydantic appends to the place of a faulty key of a map

MESSAGES = {  # for the kinds of pydantic's errors that need no number
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "string_type": "must be a string",
    "string_unicode": "is not valid Unicode",
    "string_too_short": "must not be empty",
    "bool_type": "must be true or false",
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "finite_number": "must be a finite number",
    "none_required": "must be null",
}
BOUNDS = {  # kind: message, and the name of the number in the error's context
    "greater_than": ("must be greater than {}", "gt"),
    "greater_than_equal": ("must be at least {}", "ge"),
    "less_than": ("must be less than {}", "lt"),
    "less_than_equal": ("must be at most {}", "le"),
    "multiple_of": ("must be a multiple of {}", "multiple_of"),
    "literal_error": ("must be {}", "expected"),
    "string_pattern_mismatch": ("must match {}", "pattern"),
    "string_too_long": ("must have at most {} characters", "max_length"),
}
ITEMS = {  # field: the noun for an item of its list, for fields where it is not "value"
    "operators": "operator",
    "streams": "stream",
    "devices": "device",
    "jobs": "job",
    "networks": "network",
    "nodes": "node",
    "orders": "order",
    "problems": "[[problems]] table",
    "stage": "[[stage]] table",
}
OF_ANY_FILE = ("format", "version", "comment")
OTHER_WORDS = {  # what other programs call a field: the fields that may be meant
    "nodes": ("operators", "devices"),
    "vertices": ("operators",),
    "tasks": ("operators",),
    "edges": ("streams",),
    "links": ("streams", "overrides"),
    "machines": ("devices",),
    "hosts": ("devices",),
    "from": ("source",),
    "to": ("target",),
    "src": ("source", "from"),
    "dst": ("target", "to"),
    "lr": ("rate",),
}
_PLAIN = {
    "Expecting value": "expected a value",
    "Expecting property name enclosed in double quotes": "expected a name in double quotes",
    "Expecting ',' delimiter": "expected ','",
    "Expecting ':' delimiter": "expected ':'",
    "Extra data": "unexpected text after the end",
    "Unterminated string starting at": "unterminated string",
    "Invalid control character at": "control character in a string",
}
_COMMENT = re.compile(r"\s*(//|/\*|#)")
_YAML = re.compile(
    r"(?:[ \t\r]*(?:#[^\n]*)?\n)*"  # blank lines and comments
    r"[ \t]*(---|%YAML|- |[A-Za-z_][\w.-]*:(?=\s|$))"
)


def listed_faults(
    error: ValidationError,
    form: type[BaseModel],
    within: str = "",
    origin: Callable[[Place], Place] | None = None,
    *,
    toml: bool = False,
) -> str:
    """Return the faults that pydantic found in a JSON value, with their places, as one line.

    Many faults of a kind are one phrase, see `joined_faults`. A missing field and an unknown field
    that misspells it count as one fault, the unknown field.

    Parameters
    ----------
    form
        The form that the value does not match.
    within
        The place of the value itself, if it is a part of another.
    origin
        See `reading.check`.
    toml
        Whether the value comes from a TOML file.
    """
    found = _paired(_united(error.errors(include_url=False)), form)
    shown: list[PlacedFault] = []
    for fault in found[:MAX_DESCRIBED]:
        place = without_tags(form, fault["loc"])
        place, what, got = _parts_of(fault, origin(place) if origin else place, form, toml)
        shown.append(PlacedFault(_text_of((within, *place) if within else place), what, got))
    return joined_faults(shown, len(found))


def _united(faults: Iterable[Any]) -> list[Any]:
    """Return faults, of which those in the types that one value may have are one fault."""
    found: list[Any] = []
    for fault in faults:
        *place, last = fault["loc"] or ("",)
        if not (isinstance(last, str) and BRANCH.fullmatch(last)):
            found.append(fault)
            continue
        own = {**fault, "loc": tuple(place)}
        if found and "branches" in found[-1] and found[-1]["loc"] == own["loc"]:
            found[-1]["branches"].append(own)
        else:
            found.append({**own, "branches": [own]})
    return found


def _paired(faults: Sequence[Any], form: type[BaseModel]) -> list[Any]:
    """Return faults, with unknown fields in place of the missing fields that they misspell."""
    faults = [_of_tag(fault) for fault in faults]
    unknown: dict[Place, list[Any]] = {}
    for fault in faults:
        if fault["type"] == "extra_forbidden":
            unknown.setdefault(fault["loc"][:-1], []).append(fault)
    closest, taken, found = cache(_closest_field), set[int](), list[Any]()
    for each in faults:
        fault, parent = each, each["loc"][:-1]
        if fault["type"] == "missing" and parent in unknown:
            fields = tuple(fields_at(form, parent))
            compared = (f for f in unknown[parent][:MAX_COMPARED] if id(f) not in taken)
            named = (f for f in compared if closest(f["loc"][-1], fields) == fault["loc"][-1])
            fault = next(named, fault)
        if id(fault) not in taken:
            found.append(fault)
        taken.add(id(fault))
    return found


def _closest_field(word: object, fields: tuple[str, ...]) -> str | None:
    """Return the field that a word was probably meant to be; None if there is none."""
    others = (field for field in OTHER_WORDS.get(str(word), ()) if field in fields)
    ends = (field for field in fields if field.rpartition("_")[2] == word)
    found = next(others, None) or next(ends, None) or closest_match(word, fields)
    if found in OF_ANY_FILE:  # similar to many words, such as 'rate' and 'count'
        return closest_match(word, (found,), NEAR)
    return found


def _parts_of(
    fault: Any, place: Place, form: type[BaseModel], toml: bool
) -> tuple[Place, str, str]:
    """Return place, kind and value of a fault; an unknown field's name belongs to its kind."""
    kind, loc = fault["type"], fault["loc"]
    if kind == "missing" and place:
        return place[:-1], f"missing field {_shown(place[-1])}", ""
    if kind == "extra_forbidden" and place:
        # in a union, the field may belong to the other form
        others = [name for name in fields_at(form, tuple(loc[:-1])) if name != loc[-1]]
        meant = _closest_field(str(loc[-1]), tuple(others))
        known = "" if meant is None else f"; did you mean {meant!r}?"
        return place[:-1], f"unknown field {_shown(place[-1])}{known}", ""
    what, got = _message(fault)
    if place[-1:] == (KEY,):
        return place[:-2], f"key {_shown(place[-2])}: {what}", got
    if toml and kind == "list_type" and _is_object(fault) and fields_at(form, (*loc, 0)):
        return place, f"must be a list of tables: write [[{place[-1]}]], not [{place[-1]}]", ""
    return place, what, got


def _message(fault: Any) -> tuple[str, str]:
    """Return the message about a value, and the value unless the message has it."""
    if len(fault.get("branches", ())) > 1:
        first, *others = (_message(one)[0] for one in fault["branches"])
        message = " or ".join([first, *(x.removeprefix("must be ") for x in others)])
        return message, _shown(fault["input"])
    kind, value, context = fault["type"], fault["input"], fault.get("ctx", {})
    if kind == "less_than_equal" and fault["loc"][-1:] == ("version",):
        known = f"which reads version {context['le']}"
        return f"is newer than this streamplace, {known}; update streamplace", ""
    if kind == "too_short":
        return _too_short(fault["loc"], context["min_length"], len(value))
    if kind == "too_long":
        return f"must have at most {context['max_length']:,} values", f"{len(value):,}"
    message = MESSAGES.get(kind, fault["msg"].removeprefix("Value error, "))
    message = message.replace("Input should", "must")
    if kind in BOUNDS:
        text, name = BOUNDS[kind]
        message = text.format(_number(context[name]))
    elif kind == "float_type" and isinstance(value, int) and not isinstance(value, bool):
        message = "is too large"  # for a float
    elif kind == "float_type" and isinstance(value, str) and NUMBER.fullmatch(value):
        message = "must be a number, without quotes"
    elif kind == "float_type" and isinstance(value, str) and (unit := kind_at(fault["loc"])):
        message = f"must be a number, or have a unit, such as {EXAMPLES[unit]}"
    shown = _shown(value)
    complete = kind in ("string_unicode", "string_too_short")
    if kind == "value_error":
        complete = isinstance(value, dict | list) or (isinstance(value, str) and shown in message)
    return message, "" if complete else shown


def _too_short(loc: Place, minimum: int, length: int) -> tuple[str, str]:
    names = [part for part in loc if isinstance(part, str)]
    if minimum == 1:
        return f"needs at least one {ITEMS.get(names[-1] if names else '', 'value')}", ""
    return f"needs at least {minimum:,} values", f"{length:,}"


def _is_object(fault: Any) -> bool:
    return isinstance(fault["input"], dict)


def _of_tag(fault: Any) -> Any:
    """Return a fault in the tag of a union as a fault of the field that holds the tag."""
    if fault["type"] not in ("union_tag_not_found", "union_tag_invalid"):
        return fault
    field = fault["ctx"]["discriminator"].strip("'")
    own = {**fault, "loc": (*fault["loc"], field)}
    if fault["type"] == "union_tag_not_found":
        return own | {"type": "missing"}
    *others, last = fault["ctx"]["expected_tags"].split(", ")
    expected = f"{', '.join(others)} or {last}"
    return own | {
        "type": "literal_error",
        "ctx": {"expected": expected},
        "input": fault["input"][field],
    }


def _number(limit: object) -> str:
    if isinstance(limit, int):
        return f"{limit:,}"
    return f"{limit:g}" if isinstance(limit, float) else str(limit)


def _shown(value: object) -> str:
    """Return a value as its file writes it, cut to `MAX_SHOWN` letters."""
    words = {dict: "an object", list: "a list", type(None): "null"}
    if type(value) in words:
        return words[type(value)]
    text = repr(value)
    if isinstance(value, bool):
        text = text.lower()
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"


def _text_of(place: Place) -> str:
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.lstrip(".")


def syntax_fault(error: JSONDecodeError, *, is_line: bool) -> str:
    """Return the place and the message of a fault in a JSON text, as one line.

    Parameters
    ----------
    is_line
        Whether the text is one line of a file; the place then has no line number.
    """
    if yaml := _YAML.match(error.doc):
        place = "" if is_line else f"line {_line(error.doc, yaml.start(1))}: "
        return f"{place}not JSON; YAML is not supported: convert it to JSON"
    if _HTML.match(error.doc):
        return "is an HTML page; expected JSON"
    between_tokens = error.msg.startswith(("Expecting", "Extra", "Illegal trailing"))
    comment = _COMMENT.match(error.doc, error.pos) if between_tokens else None
    at = comment.start(1) if comment else error.pos
    line_start = error.doc.rfind("\n", 0, at) + 1
    column = f"column {at - line_start + 1}"
    place = column if is_line else f"line {_line(error.doc, at)} {column}"
    if comment:
        return f'{place}: not JSON: JSON has no comments; use a "comment" field instead'
    plain = error.msg[:1].lower() + error.msg[1:]
    return f"{place}: not JSON: {_PLAIN.get(error.msg, plain.strip(': '))}"


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
