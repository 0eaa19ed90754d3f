"""Options of commands that are made of settings; see `util.settings`."""

import re
from collections.abc import Callable, Mapping
from dataclasses import Field, fields, replace
from typing import Any

import click

from streamplace.cli.command import option
from streamplace.cli.param_types import NUMBER, SECONDS, Choice, Whole, in_range
from streamplace.errors import UsageError
from streamplace.util.settings import ABOUT, KIND, UNSET, CheckedSettings, Kind, Range, Text

NAMES = {"seconds": "time-limit"}
"""Names that options of several commands have in place of the fields'."""
NAMED = re.compile(r"`+([^`]+)`+")


def options_of(
    cls: type[CheckedSettings],
    *chosen: str,
    names: Mapping[str, str] | None = None,
    added: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the options of settings, by the names of their fields.

    Parameters
    ----------
    chosen
        Names of the fields, in the order of --help; without any, all of them.
    names
        Field -> name of its option, where this is not the field's (without ``_s``, for seconds).
    added
        Field -> what its help says about the command, after what the setting means.
    """
    known = {each.name: each for each in fields(cls)}
    return {
        name: _option(known[name], names or {}, (added or {}).get(name, ""))
        for name in chosen or known
    }


def option_name(field: str, names: Mapping[str, str]) -> str:
    """Return the name of the option of a field; see `options_of`."""
    name = names.get(field, field.removesuffix("_s"))
    return f"--{name.replace('_', '-')}"


def _option(of: "Field[Any]", names: Mapping[str, str], added: str) -> Any:
    def show(found: re.Match[str]) -> str:
        is_setting = not found[0].startswith("``")
        return option_name(found[1], names) if is_setting else found[1]

    about = f"{of.metadata[ABOUT]} {added}".rstrip()
    unset = f"  [default: {of.metadata[UNSET]}]" if of.metadata[UNSET] else ""
    settings = _of_kind(of.metadata[KIND])
    if of.default is not None and "is_flag" not in settings:
        settings |= {"default": of.default, "show_default": True}
    text = NAMED.sub(show, about + unset)
    return option(option_name(of.name, names), help=text, **settings)


def _of_kind(kind: Kind) -> dict[str, Any]:
    """Return how an option for values of a kind is declared to click."""
    if isinstance(kind, Range):
        is_time = kind.symbol == "S"
        of_number = Whole() if kind.whole else SECONDS if is_time else NUMBER
        return {"type": of_number, "callback": in_range(kind), "metavar": kind.symbol}
    if isinstance(kind, tuple):
        return {"type": Choice(kind)}
    if kind is bool:
        return {"is_flag": True}
    assert isinstance(kind, Text), "an option needs to know what values are valid"
    return {"callback": _accepted_by(kind.make), "metavar": kind.symbol}


def _accepted_by(make: Callable[[str], object]) -> Callable[..., str | None]:
    """Return a callback that refuses text of which a function makes nothing."""

    def check(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
        if value is not None:
            try:
                make(value)
            except UsageError as error:
                fault = replace(error.fault, option="")  # click names it
                raise click.BadParameter(str(fault), ctx, param) from None
        return value

    return check
