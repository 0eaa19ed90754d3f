"""Types of arguments: numbers, and names with shell completion and suggestions in errors.

The possible names are looked up only when a shell asks for completions.
"""

from collections.abc import Callable, Iterable
from math import inf
from typing import TYPE_CHECKING, Any

import click

from streamplace.util.suggest import closest_match, did_you_mean

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


AUTO_TICK = inf


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
            self.fail(f"must be a whole number (got {value!r:.40})", param, ctx)
        if self.minimum is not None and number < self.minimum:
            self.fail(f"must be at least {self.minimum} (got {number})", param, ctx)
        if self.maximum is not None and number > self.maximum:
            self.fail(f"must be at most {self.maximum:,} (got {number})", param, ctx)
        return number


class Number(click.ParamType[float]):
    """A floating-point number."""

    name = "float"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number, or fail with a message that contains the value."""
        try:
            return float(value)
        except ValueError:
            self.fail(f"must be a number (got {value!r:.40})", param, ctx)


class Tick(Number):
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
        """Return the closest choice, or else all choices."""
        message = f"unknown choice {value!r:.80}"
        found = did_you_mean(str(value), self.choices)
        if found:
            return message + found
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
    ) -> "list[CompletionItem]":
        """Return the names that begin with the text typed so far."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415 - for completion only

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


def _families(typed: str) -> list[str]:
    from streamplace.generate.registry import family_names  # noqa: PLC0415 - heavy

    return family_names()


def _objectives(typed: str) -> list[str]:
    from streamplace.problem.objectives import objective_names  # noqa: PLC0415 - heavy

    return objective_names()


def _measures(typed: str) -> list[str]:
    from streamplace.training.measuring.measure import measure_names  # noqa: PLC0415 - heavy

    return measure_names()


def _configs(typed: str) -> list[str]:
    from importlib.resources import files  # noqa: PLC0415 - for completion only

    folder = files("streamplace") / "training" / "configs"  # does not load torch
    return sorted(file.name.removesuffix(".toml") for file in folder.iterdir())


def _datasets(typed: str) -> list[str]:
    """Return the shipped datasets, once the user has begun to type."""
    from streamplace.files.bundled import FOLDERS, PREFIX, shipped_names  # noqa: PLC0415

    if not typed:
        return []
    return [PREFIX + name for name in (*FOLDERS, *shipped_names())]


def _nothing(typed: str) -> tuple[str, ...]:
    return ()


NUMBER = Number()
TICK = Tick()
FILE = Completed(_nothing, files=True)
GRAPH = Completed(_datasets, files=True)
PLACER = Completed(_placers)
FAMILY = Completed(_families)
OBJECTIVE = Completed(_objectives)
MEASURE = Completed(_measures)
CONFIG = Completed(_configs, files=True)
