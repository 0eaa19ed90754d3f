"""Operators of a placement in the plan of a job."""

from collections.abc import Iterable

PREFIXES, SUFFIXES = ("Source: ", "Sink: "), (": Writer",)


def matched(operators: Iterable[str], in_job: Iterable[str]) -> dict[str, str]:
    """Return operator of the placement -> its name in the plan, for those that are found.

    An operator is found by its name in the plan ("Source: x", "x: Writer"), else by its own name.
    """
    names = list(in_job)
    own: dict[str, str] = {}
    for name in names:
        short = name
        for prefix in PREFIXES:
            short = short.removeprefix(prefix)
        for suffix in SUFFIXES:
            short = short.removesuffix(suffix)
        own.setdefault(short, name)
    exact = set(names)
    found = {}
    for operator in operators:
        if operator in exact:
            found[operator] = operator
        elif operator in own:
            found[operator] = own[operator]
    return found
