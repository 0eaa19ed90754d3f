"""Equal budgets for placers in comparisons: the same number of evaluations, or the same time."""

from collections.abc import Iterable
from dataclasses import dataclass

from streamplace.errors import UsageError
from streamplace.placers.registry import TRAINED, make_placer
from streamplace.util import plugins
from streamplace.util.plugin_calls import parameters_of

EVALUATIONS = ("evaluations", "samples")
"""Options that set how many placements a placer evaluates: it has at most one of them."""
OTHER_SEARCH = {"policy": ("beam", "episodes", "refine")}
"""Placer -> options that also set how many placements it evaluates."""
UNREFINED = "refine=0"
"""The option of `policy` with which it evaluates its samples only."""


@dataclass(frozen=True)
class Budgeted:
    """Placers with a budget.

    Parameters
    ----------
    names
        All placers, by name with options.
    unlimited
        Those among them that have no such option, and therefore run as they are.
    """

    names: tuple[str, ...]
    unlimited: tuple[str, ...]


def with_evaluations(names: Iterable[str], count: int) -> Budgeted:
    """Return the placers, each with the same number of evaluations.

    Parameters
    ----------
    names
        Placers by name with options, built-in ones or others. Those with an option ``evaluations``
        or ``samples`` get it. Every sample of a policy that builds placements is one evaluation;
        the shipped weights run without the refinement that would come on top. Placers that train
        a network on the graph have samples per step, and are left as they are.
    count
        The number of evaluations for each problem, at least 1.

    Raises
    ------
    UsageError
        If a name is wrong or already sets a number of evaluations, or the number is out of range.
    """
    return _budgeted(names, EVALUATIONS, str(count), "a number of evaluations")


def with_seconds(names: Iterable[str], seconds: float) -> Budgeted:
    """Return the placers, each with the same time limit.

    Parameters
    ----------
    names
        Placers by name with options, built-in ones or others. Those with an option ``seconds`` get
        the limit.
    seconds
        The limit for each problem, in seconds of wall time.

    Raises
    ------
    UsageError
        If a name is wrong or already sets a time limit, or the limit is out of range.
    """
    return _budgeted(names, ("seconds",), repr(seconds), "a time limit")


def _budgeted(names: Iterable[str], keys: tuple[str, ...], value: str, budget: str) -> Budgeted:
    made, unlimited = [], []
    for text in names:
        key = _key_of(text, keys, budget)
        if key is None:
            unlimited.append(text)
            made.append(text)
            continue
        limited = f"{text}:{key}={value}"
        if keys is EVALUATIONS and _refines_by_default(text):
            limited += f":{UNREFINED}"
        make_placer(limited)
        made.append(limited)
    return Budgeted(tuple(made), tuple(unlimited))


def _key_of(text: str, keys: tuple[str, ...], budget: str) -> str | None:
    """Return the first of some options that a placer has, or None.

    Raises
    ------
    UsageError
        If the name is wrong, or sets a budget.
    """
    known = parameters_of(type(make_placer(text)))
    name, options = plugins.parts_of(text)
    found = next((key for key in keys if key in known), None)
    if found is None or name in TRAINED:
        return None
    own = (*keys, *(OTHER_SEARCH.get(name, ()) if keys is EVALUATIONS else ()))
    for option in options:
        if option.partition("=")[0] in own and option != UNREFINED:
            raise UsageError(f"placer {text!r} already sets {budget}; remove {option!r} from it")
    return found


def _refines_by_default(text: str) -> bool:
    """Return whether a placer is `policy` with the shipped weights, which it refines."""
    name, options = plugins.parts_of(text)
    stated = {option.partition("=")[0] for option in options}
    return name == "policy" and not stated & {"file", "refine"}
