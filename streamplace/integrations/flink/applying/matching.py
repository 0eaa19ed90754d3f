"""Operators of a placement in the plan of a job."""

import re
from collections.abc import Iterable

PREFIXES, SUFFIXES = ("Source: ", "Sink: "), (": Writer",)
PLAN_NUMBER = re.compile(r"^\[(\d+)\]:|\[(\d+)\]$")


def matched(operators: Iterable[str], in_job: Iterable[str]) -> dict[str, str]:
    """Return operator of the placement -> its name in the plan, for those that are found.

    An operator is found by its name in the plan ("Source: x", "x: Writer"), else by its own name.
    Flink SQL numbers its operators ("[4]:Calc(…)") on from job to job, so their numbers are left
    out; of several equal names the first belongs to the first.
    """
    names = list(in_job)
    exact = set(names)
    wanted = list(operators)
    sql = _numbered(names)
    by_number = {name: sql[plain] for plain, name in _numbered(wanted).items() if plain in sql}
    own: dict[str, str] = {}
    for name in names:
        own.setdefault(_own(name), name)
    found = {}
    for operator in wanted:
        if operator in by_number:
            found[operator] = by_number[operator]
        elif operator in exact:
            found[operator] = operator
        elif operator in own:
            found[operator] = own[operator]
    return found


def _own(name: str) -> str:
    for prefix in PREFIXES:
        name = name.removeprefix(prefix)
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    return name


def _numbered(names: Iterable[str]) -> dict[tuple[str, int], str]:
    """Return (name without its number, position among equal ones) -> name, for names of SQL."""
    found: dict[tuple[str, int], str] = {}
    counts: dict[str, int] = {}
    rows = [(PLAN_NUMBER.search(name), name) for name in names]
    numbered = [(int(match[1] or match[2]), name) for match, name in rows if match is not None]
    for _, name in sorted(numbered):
        plain = PLAN_NUMBER.sub("", name)
        counts[plain] = counts.get(plain, 0) + 1
        found[plain, counts[plain]] = name
    return found
