"""Types of arguments, and checks of their values.

Names have shell completion, and suggestions in errors; the possible names are looked up only when a
shell asks for completions.
"""

import csv
import re
from collections.abc import Callable, Iterable
from io import StringIO
from itertools import pairwise
from math import inf
from pkgutil import resolve_name
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from streamplace.cli.command import print_note
from streamplace.errors import UsageError
from streamplace.problem.objective import MAX_RATE, MIN_VALUE
from streamplace.util.settings import SHARE, Range
from streamplace.util.suggest import closest_match, did_you_mean, with_words
from streamplace.util.text import without_commas
from streamplace.util.units import parsed

AUTO_TICK = inf
# A number with commas, such as 1,500 or 20,000; not 10,500 or 100,200, which may be two values.
GROUPED = re.compile(r"[1-9](,\d{3})+|(?=.*,000)[1-9]\d{1,2}(,\d{3})+")
THOUSANDS = re.compile(r"[1-9]\d{1,2},\d{3}(\.\d+)?")  # such as 10,500: two rates, or one
PERCENT = re.compile(r"([1-9]\d(?:\.\d{1,9})?) ?%?")  # 10 to 99

Value = TypeVar("Value", bound=float)


class Whole(click.ParamType[int]):
    """A whole number, from `minimum` to `maximum`; None stands for no limit."""

    name = "integer"

    def __init__(self, minimum: int | None = None, maximum: int | None = None) -> None:
        self.minimum, self.maximum = minimum, maximum

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number, or fail with a message that contains the value."""
        try:
            number = int(value)
        except ValueError:
            meant = without_commas(value, int)
            self.fail(f"must be a whole number (got {value!r:.40}){meant}", param, ctx)
        if self.minimum is not None and number < self.minimum:
            self.fail(f"must be at least {self.minimum} (got {number})", param, ctx)
        if self.maximum is not None and number > self.maximum:
            self.fail(f"must be at most {self.maximum:,} (got {number})", param, ctx)
        return number


class NumberParam(click.ParamType[float]):
    """A floating-point number.

    Parameters
    ----------
    kind
        The kind of quantity whose units the number may have; see `util.units`.
    """

    name = "float"

    def __init__(self, kind: str | None = None) -> None:
        self.kind = kind

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number, or fail with a message that contains the value."""
        try:
            return float(value)
        except ValueError:
            if self.kind is None:
                meant = _as_share(value) or without_commas(value, float)
                self.fail(f"must be a number (got {value!r:.40}){meant}", param, ctx)
        try:
            return parsed(value, self.kind)
        except UsageError as error:
            self.fail(str(error), param, ctx)


class Several(click.ParamType[tuple[Value, ...]]):
    """One value or several ascending ones, separated by commas."""

    def __init__(self, of: click.ParamType[Value]) -> None:
        self.of: click.ParamType[Value] = of
        self.name = of.name

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[Value, ...]:
        """Return the values, or fail with a message that contains the text."""
        if not isinstance(value, str):  # a default
            return tuple(value)
        if GROUPED.fullmatch(",".join(part.strip() for part in value.split(","))):
            meant = without_commas(value, float)
            self.fail(f"looks like one number with commas (got {value!r:.40}){meant}", param, ctx)
        found = tuple(self.of.convert(part, param, ctx) for part in value.split(","))
        if any(after <= before for before, after in pairwise(found)):
            self.fail(f"must ascend (got {value!r:.40})", param, ctx)
        return found


class Tick(NumberParam):
    """Seconds per tick, or the word ``auto``."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number; inf stands for ``auto``, since None is an option that is left out."""
        if value == "auto":
            return AUTO_TICK
        try:
            number = super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"must be a number of seconds or auto (got {value!r:.80})", param, ctx)
        if number == AUTO_TICK:
            self.fail("must be finite (got inf)", param, ctx)
        return number


class Choice(click.Choice[str]):
    """A choice of names; the error for an unknown name suggests the closest one."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Return those with the words of the value, or the closest choice, or else all choices."""
        message = f"unknown choice {value!r:.80}"
        if found := with_words(str(value), self.choices):
            return f"{message}; did you mean {' or '.join(map(repr, found))}?"
        if close := did_you_mean(str(value), self.choices):
            return message + close
        by_first_word = {choice.partition("-")[0]: choice for choice in reversed(self.choices)}
        # `flik` is close to `flink`, but not to `flink-plan`
        first = closest_match(str(value), by_first_word)
        if first is None:
            return f"{message}; choose from {', '.join(self.choices)}"
        return f"{message}; did you mean {by_first_word[first]!r}?"


class Completed(click.ParamType[str]):
    """Any text, which shells complete to known names, or else to files.

    Parameters
    ----------
    names
        Function from the text typed so far to the names that it could become.
    files
        Whether to complete file names where no name matches.
    """

    name = "text"

    def __init__(self, names: Callable[[str], Iterable[str]], files: bool = False) -> None:
        self.names, self.files = names, files

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text, or fail if it is empty."""
        if value == "":
            self.fail("must not be empty", param, ctx)
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list["CompletionItem[str]"]:
        """Return the names that begin with the text typed so far."""
        found = [name for name in self.names(incomplete) if name.startswith(incomplete)]
        items = [CompletionItem(name) for name in found]
        if self.files and not items:
            items.append(CompletionItem(incomplete, type="file"))
        return items


def _placers(typed: str) -> list[str]:
    """Complete the last placer of NAME[:OPTION=…][,NAME…]."""
    from streamplace.placers.registry import NAMES, options_of  # noqa: PLC0415 - heavy

    before, comma, last = typed.rpartition(",")
    name, colon, _ = last.partition(":")
    if not colon:
        return [before + comma + each for each in NAMES]
    if name not in NAMES:
        return []
    stem = typed[: typed.rindex(":") + 1]
    return [f"{stem}{option}=" for option in options_of(name)]


def _call_later(function: str) -> Callable[[str], list[str]]:
    """Return a function that calls another one, MODULE:FUNCTION, which is imported only then."""
    return lambda typed: list(resolve_name(function)())


def _datasets(typed: str) -> list[str]:
    """Return the shipped datasets, once the user has begun to type."""
    return _call_later("streamplace.files.datasets:dataset_choices")(typed) if typed else []


def _nothing(typed: str) -> tuple[str, ...]:
    return ()


NUMBER = NumberParam()
SECONDS = NumberParam("s")
RATE = NumberParam("rate")
MIPS = NumberParam("mips")
TICK = Tick("s")
NAME = Completed(_nothing)
FILE = Completed(_nothing, files=True)
GRAPH = Completed(_datasets, files=True)
PLACER = Completed(_placers)
FAMILY = Completed(_call_later("streamplace.families.family:family_names"))
OBJECTIVE = Completed(_call_later("streamplace.problem.objectives:objective_names"))
MEASURE = Completed(_call_later("streamplace.learning.training.measuring.measure:measure_names"))
CONFIG = Completed(_call_later("streamplace.util.entry_points:config_files"), files=True)


def placer_names(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> tuple[str, ...] | None:
    """Parse A or A,B,… into names of placers with options; spaces around a comma do not count."""
    if value is None:
        return None
    names = tuple(part.strip() for part in value.split(","))
    if not all(names):
        raise click.BadParameter(
            f"empty name (got {value!r}); separate names by commas", ctx, param
        )
    return names


def checked_id(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Refuse an id without any characters, which would ask for the list of all."""
    if value is not None and not value.strip():
        raise click.BadParameter("must not be empty", ctx, param)
    return value


def names_in(text: str | None) -> tuple[str, ...]:
    """Return the parts of text that commas separate, except those in double quotes, as in CSV."""
    return () if text is None else tuple(next(csv.reader([text])) or [""])


def names_out(names: Iterable[str]) -> str | None:
    """Return text that `names_in` reads as these names; None without any."""
    text = StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return text.getvalue() or None


def pairs(
    parts: Iterable[str], form: str, ctx: click.Context, param: click.Parameter
) -> dict[str, str]:
    """Parse NAME=VALUE, once per name, into name -> value; errors say the form."""
    found: dict[str, str] = {}
    for part in parts:
        name, _, value = part.rpartition("=")
        if not name or not value:
            raise click.BadParameter(f"must be {form} (got {part!r:.80})", ctx, param)
        if name in found:
            raise click.BadParameter(f"names {name!r:.80} twice", ctx, param)
        found[name] = value
    return found


def source_rates(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> tuple[float, ...] | dict[str, float] | None:
    """Parse R or R,R2,… as `rates` does, and SOURCE=R,… into source -> rate."""
    if any("=" in value for value in values):
        parts = [part for value in values for part in names_in(value)]
        of_sources = pairs(parts, "SOURCE=RATE, such as orders=8k", ctx, param)
        return {name: RATE.convert(rate, param, ctx) for name, rate in of_sources.items()}
    if len(values) > 1:
        message = "is given twice; only SOURCE=RATE is repeatable"
        raise click.BadParameter(message, ctx, param)
    return rates(ctx, param, values[0] if values else None)


def rates(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> tuple[float, ...] | None:
    """Parse R or R,R2,… into rates in tuples/s."""
    if value is None:
        return None
    try:
        found = tuple(RATE.convert(part, param, ctx) for part in value.split(","))
    except click.BadParameter:
        message = f"must be one rate or several, such as 10k or 1e4,2e4 (got {value!r})"
        raise click.BadParameter(message, ctx, param) from None
    parts = [part.strip() for part in value.split(",")]
    joined = ",".join(parts)
    if GROUPED.fullmatch(joined):
        asked = f"did you mean {''.join(parts)}?"
        if all(found):
            asked += f" for rates as they are, write {parts[0]}.0,{','.join(parts[1:])}"
        message = f"looks like one rate with commas (got {value!r}); {asked}"
        raise click.BadParameter(message, ctx, param)
    if len({*found}) < len(found):
        repeated = next(part for i, part in enumerate(parts) if found[i] in found[:i])
        message = f"has {repeated} twice (got {value!r}); write numbers without commas in them"
        raise click.BadParameter(message, ctx, param)
    if THOUSANDS.fullmatch(joined) and all(found):
        one, several = "".join(parts), " and ".join(parts)
        print_note(
            f"{param.opts[0]} {value} stands for the rates {several}; for one rate, write {one}"
        )
    if not all(MIN_VALUE <= rate <= MAX_RATE for rate in found):
        message = f"must be {MIN_VALUE:g} to {MAX_RATE:g} tuples/s (got {value!r})"
        raise click.BadParameter(message, ctx, param)
    return found


def in_range(of: Range) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """Return a callback that refuses numbers outside of a range; None passes."""

    def check(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
        if value is not None and (fault := of.fault(value)):
            raise click.BadParameter(fault + _as_share(value) * (of is SHARE), ctx, param)
        return value

    return check


at_least_0 = in_range(Range())
above_0 = in_range(Range(above=True))
share = in_range(SHARE)
# For a time in seconds to wait; longer ones overflow the timers of some systems.
wait = in_range(Range(0, 10**8, unit="s"))


def all_at_least_0(
    ctx: click.Context, param: click.Parameter, value: tuple[float, ...] | None
) -> tuple[float, ...] | None:
    """Refuse numbers of which any is negative, infinite or NaN."""
    for number in value or ():
        at_least_0(ctx, param, number)
    return value


def limit(ctx: click.Context, param: click.Parameter, value: float) -> float:
    """Refuse what `wait` refuses, and 0, within which nothing can end."""
    if value == 0:
        raise click.BadParameter("must be above 0 (got 0)", ctx, param)
    wait(ctx, param, value)
    return value


def probability(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """Refuse a probability that is not above 0 and below 1."""
    if value is not None and not 0 < value < 1:
        message = f"must be above 0 and below 1 (got {value:g}){_as_share(value)}"
        raise click.BadParameter(message, ctx, param)
    return value


def _as_share(value: object) -> str:
    """Return the share that a percentage is, as the end of a message; empty if it is none."""
    found = PERCENT.fullmatch(str(value))
    return "" if found is None else f"; did you mean {float(found[1]) / 100:g}?"
