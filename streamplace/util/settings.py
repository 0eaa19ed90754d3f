"""Settings, each declared once, with its type, default, range and meaning.

A dataclass that derives from `CheckedSettings` has a field for each::

    @dataclass(frozen=True, kw_only=True)
    class PlanSettings(CheckedSettings):
        most: int | None = setting(Range(1, 100, whole=True), None, "Most devices.", unset="all")

Its values are checked when it is created. `with_settings` makes its fields the keyword arguments
of a function, with their meanings in its docstring, and `cli.settings` options of a command.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import partial, wraps
from inspect import cleandoc, signature
from math import inf
from textwrap import wrap
from typing import Any, ClassVar, ParamSpec, Protocol, TypeVar, cast

from streamplace.errors import UsageError
from streamplace.util.checks import check_int, check_number, plain_number
from streamplace.util.suggest import valid_choices

KIND, ABOUT, UNSET = "kind", "about", "unset"  # keys of the metadata of a field
WIDTH = 92  # of text in docstrings
Chosen = ParamSpec("Chosen")
A_contra = TypeVar("A_contra", contravariant=True)
B_contra = TypeVar("B_contra", contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)
Made_contra = TypeVar("Made_contra", contravariant=True)


@dataclass(frozen=True, eq=False)
class Range:
    """Numbers in a range.

    Parameters
    ----------
    least, most
        The range. Numbers are finite in any case.
    above
        Whether numbers must be above `least`.
    whole
        Whether they are whole numbers. If these are 0 and 1, booleans are valid, too.
    unit
        The unit in messages.
    symbol
        What stands for a number in help.
    """

    least: float = 0
    most: float = inf
    above: bool = False
    whole: bool = False
    unit: str = ""
    symbol: str = "N"

    def check(self, value: Any) -> Any:
        """Return a number as one of Python's; raise a UsageError if it is not in the range."""
        if not (self.whole and self.most == 1 and isinstance(value, bool)):
            (check_int if self.whole else check_number)("", value, UsageError)
        if fault := self.fault(value):
            raise UsageError(fault)
        return plain_number(int(value) if self.whole else value)

    def fault(self, value: float) -> str:
        """Return what is wrong with a number; an empty string if it is in the range."""
        is_enough = value > self.least if self.above else value >= self.least
        if is_enough and value <= self.most and value < inf:
            return ""
        return f"must be {self._in_words()} (got {value if self.whole else f'{value:g}'})"

    def _in_words(self) -> str:
        most, unit = self._most_in_words(), f" {self.unit}".rstrip()
        if self.most == inf:
            finite = "" if self.whole else "finite and "
            return f"{finite}{'above' if self.above else 'at least'} {self.least:g}{unit}"
        if self.above:
            return f"above {self.least:g} and at most {most}{unit}"
        between = "or" if self.whole and self.most == self.least + 1 else "to"
        return f"{self.least:g} {between} {most}{unit}"

    def _most_in_words(self) -> str:
        return f"{self.most:,}" if isinstance(self.most, int) else f"{self.most:g}"


@dataclass(frozen=True)
class Text:
    """Text of which a function makes a value.

    Parameters
    ----------
    make
        Returns the value of text or of such a value; raises a UsageError otherwise.
    symbol
        What stands for the text in help.
    """

    make: Callable[[Any], Any]
    symbol: str


Kind = Range | Text | tuple[str, ...] | type[bool] | None
"""What values are valid: numbers, text, some words, yes or no. None: what uses a setting checks."""
SHARE = Range(0, 1, above=True, symbol="U")
COUNT = Range(1, whole=True)
SEED = Range(0, whole=True)
SECONDS = Range(symbol="S")  # as of a limit, which may be 0


def setting(kind: Kind, default: Any, about: str, *, unset: str = "") -> Any:
    """Return a field for a setting.

    Parameters
    ----------
    about
        What it means, in sentences. Other settings are named in single backticks.
    unset
        What None stands for, as the default.
    """
    return field(default=default, metadata={KIND: kind, ABOUT: about, UNSET: unset})


@dataclass(frozen=True)
class CheckedSettings:
    """Base class of dataclasses whose fields are settings.

    Attributes
    ----------
    place
        What messages begin with, such as the name of a command.

    Raises
    ------
    UsageError
        If a value is not valid; its option is the name of the field.
    """

    place: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if value is None and each.default is None:
                continue
            try:
                checked = _check_value(each.metadata[KIND], value)
            except UsageError as error:
                error.update(place=self.place, option=error.fault.option or each.name)
                raise
            object.__setattr__(self, each.name, checked)


def _check_value(kind: Kind, value: Any) -> Any:
    if isinstance(kind, Range):
        return kind.check(value)
    if isinstance(kind, Text):
        return kind.make(value)
    if isinstance(kind, tuple) and value not in kind:
        raise UsageError(f"unknown choice {value!r:.80}{valid_choices(value, kind)}")
    return value


def meanings(of: type[CheckedSettings]) -> dict[str, str]:
    """Return what settings mean, and what None stands for, by their names."""
    return {each.name: _full_text(**each.metadata) for each in fields(of)}


def _full_text(about: str, unset: str, kind: Kind) -> str:
    return f"{about} None: {unset}." if unset else about


class WithSettings(Protocol[A_contra, B_contra, Made_contra, Result_co]):
    """A function of a graph, a cluster, and an object of settings."""

    def __call__(
        self, graph: A_contra, cluster: B_contra | None = None, *, settings: Made_contra
    ) -> Result_co: ...


class Taking(Protocol[A_contra, B_contra, Chosen, Result_co]):
    """A function of a graph, a cluster, and settings as keyword arguments."""

    def __call__(
        self,
        graph: A_contra,
        cluster: B_contra | None = None,
        *args: Chosen.args,
        **settings: Chosen.kwargs,
    ) -> Result_co: ...


def with_settings(
    cls: Callable[Chosen, Made_contra],
) -> Callable[
    [WithSettings[A_contra, B_contra, Made_contra, Result_co]],
    Taking[A_contra, B_contra, Chosen, Result_co],
]:
    """Return a decorator for functions of a graph, a cluster and an object of settings.

    The settings become keyword arguments. Their meanings are added to the docstring.
    """
    return partial(with_keywords, cast("Any", cls))


def with_keywords(make: type[CheckedSettings], function: Any) -> Any:
    """Return a function whose keyword arguments are settings, of one that takes them as an object.

    Their meanings are added to its docstring.
    """
    own, of_function = signature(make).parameters, signature(function)
    first = [each for each in of_function.parameters.values() if each.name != "settings"]
    known = {*own, *(each.name for each in first)}

    @wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        if unknown := [name for name in named if name not in known]:
            raise TypeError(
                f"{function.__name__}() got an unexpected keyword argument {unknown[0]!r}"
            )
        chosen = {name: named.pop(name) for name in [*named] if name in own}
        return function(*args, **named, settings=make(**chosen))

    entries = "\n".join(
        "\n    ".join([name, *wrap(about, WIDTH)]) for name, about in meanings(make).items()
    )
    text, raises, rest = cleandoc(function.__doc__).partition("Raises\n---")
    call.__doc__ = f"{text.rstrip()}\n{entries}\n\n{raises}{rest}"
    shown = of_function.replace(parameters=[*first, *own.values()])
    vars(call)["__signature__"] = shown  # what `help` shows
    return call
