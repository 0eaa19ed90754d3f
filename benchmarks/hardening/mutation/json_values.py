"""Mutations of JSON values: wrong types, extreme numbers, wrong names."""

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

NESTS = (10, 100, 300, 500, 700, 800, 900, 930, 950, 960, 970, 980, 990, 1000, 2000, 100_000)
RAW = {f"@nest-{depth}@": "[" * depth + "]" * depth for depth in NESTS}
RAW |= {f"@objects-{depth}@": '{"a":' * depth + "1" + "}" * depth for depth in NESTS}
RAW |= {"@digits@": "9" * 5000, "@fraction@": "0." + "1" * 20_000, "@exponent@": "1e" + "9" * 300}
RAW |= {"@twice@": '{"a": 1, "a": 2}', "@nul@": "\x00", "@cut@": '"', "@minus@": "-0"}
"""Placeholder -> text that `json.dumps` would not write."""

NUMBERS = (
    *(-1, 0, 1, 2, -0.0, 0.5, -0.5, 5e-324, 1e-308, 1e-30, 1e-9, 1e9, 1e15, 1e30, 1e300, 1e308),
    *(2**31, 2**53 + 1, 2**63, 2**64, -(2**63), 2**70, 10**400, 10**4000, -(10**400)),
    *(float("nan"), float("inf"), float("-inf"), 1.7976931348623157e308, 3),
)
OTHERS: tuple[Any, ...] = (
    *(None, True, False, "", "x", "1", "1e3", "NaN", [], {}, [[]], [{}], {"a": []}, {"": ""}),
    *("\ud800", "\x00", "a\nb", "\x1b[2J", "\u2028", "\ufeff", "\U0001f600", "n" * 100_000),
    *("__class__", "../../etc/passwd", "$(touch executed)", "-o", "nobody", "d0", "a"),
    *([None], [1], ["a", "a"], ["a"] * 3000, {"comment": 1}, {str(i): i for i in range(300)}),
)


def mutated(value: Any, rng: random.Random) -> Any:
    """Return a JSON value with one random mutation, for `json_text` to write."""
    holder = [copy.deepcopy(value)]
    rng.choice(FAULTS)(holder, rng)
    return holder[0]


def json_text(value: Any) -> str:
    """Return a value as JSON text, with the placeholders of `RAW` replaced by their texts."""
    text = json.dumps(value)
    for mark, raw in RAW.items():
        if mark in text:
            text = text.replace(json.dumps(mark), raw)
    return text


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the container and key of every nested value."""
    pending = [value]
    while pending:
        one = pending.pop()
        keys = list(one) if isinstance(one, dict) else list(range(len(one)))
        for key in keys:
            yield one, key
            if isinstance(one[key], dict | list):
                pending.append(one[key])


def _random_place(holder: list[Any], rng: random.Random, *kinds: type) -> tuple[Any, Any] | None:
    places = [(one, key) for one, key in _places(holder) if type(one[key]) in kinds or not kinds]
    return rng.choice(places) if places else None


def _number(holder: list[Any], rng: random.Random) -> None:
    """Replace one number by an extreme one."""
    if place := _random_place(holder, rng, int, float):
        place[0][place[1]] = rng.choice(NUMBERS)


def _numbers(holder: list[Any], rng: random.Random) -> None:
    """Replace all numbers of one key by an extreme one."""
    if place := _random_place(holder, rng, int, float):
        new = rng.choice(NUMBERS)
        for one, key in list(_places(holder)):
            if key == place[1] and isinstance(one[key], int | float):
                one[key] = new


def _type(holder: list[Any], rng: random.Random) -> None:
    """Replace any value by one of another type."""
    if place := _random_place(holder, rng):
        place[0][place[1]] = copy.deepcopy(rng.choice((*NUMBERS, *OTHERS)))


def _raw(holder: list[Any], rng: random.Random) -> None:
    """Replace any value by text that is not JSON, or a corner case of it."""
    if place := _random_place(holder, rng):
        place[0][place[1]] = rng.choice(tuple(RAW))


def _name(holder: list[Any], rng: random.Random) -> None:
    """Replace a string by another one of the document: cycles, loops, duplicates, unknown names."""
    one, other = _random_place(holder, rng, str), _random_place(holder, rng, str)
    if one and other:
        one[0][one[1]] = other[0][other[1]]


def _rename(holder: list[Any], rng: random.Random) -> None:
    """Rename a key, perhaps to another key of the object."""
    objects = [one[key] for one, key in _places(holder) if isinstance(one[key], dict) and one[key]]
    if objects:
        one = rng.choice(objects)
        key = rng.choice(list(one))
        new = rng.choice(("", "x", "comment", "\ud800", key + "s", *one))
        one[new] = one.pop(key)


def _remove(holder: list[Any], rng: random.Random) -> None:
    """Delete a value."""
    places = [(one, key) for one, key in _places(holder) if one is not holder]
    if places:
        one, key = rng.choice(places)
        del one[key]


def _repeat(holder: list[Any], rng: random.Random) -> None:
    """Append copies of elements to a list."""
    lists = [one[key] for one, key in _places(holder) if isinstance(one[key], list) and one[key]]
    if lists:
        one = rng.choice(lists)
        one += [copy.deepcopy(rng.choice(one)) for _ in range(rng.choice((1, 1, 1, 5, 200)))]


def _shuffle(holder: list[Any], rng: random.Random) -> None:
    """Shuffle a list."""
    lists = [one[key] for one, key in _places(holder) if isinstance(one[key], list)]
    if lists:
        rng.shuffle(rng.choice(lists))


def _overwrite(holder: list[Any], rng: random.Random) -> None:
    """Copy one value over another."""
    one, other = _random_place(holder, rng), _random_place(holder, rng)
    if one and other:
        one[0][one[1]] = copy.deepcopy(other[0][other[1]])


FAULTS: tuple[Callable[[list[Any], random.Random], None], ...] = (
    *(_number, _number, _numbers, _numbers, _type, _type, _raw, _name, _name, _name),
    *(_rename, _remove, _repeat, _repeat, _shuffle, _overwrite),
)
