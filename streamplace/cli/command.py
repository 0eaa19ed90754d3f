"""Commands whose options are a dataclass, in the order of --help, and what commands print.

A command declares each option once::

    @dataclass(frozen=True)
    class PlanOptions(Common):
        graph: str = argument(type=GRAPH)
        lost: LostDevices = group(LostDevices)

    @command(PlanOptions)
    def plan(chosen: PlanOptions) -> None: ...
"""

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import Field, field, fields
from inspect import get_annotations
from typing import Any, Protocol, TypeVar

import click

from streamplace.errors import StreamplaceError
from streamplace.execution.progress import is_quiet
from streamplace.files.json_text import to_json
from streamplace.util.entry_points import ours

PARAMETER, MAKE, MEMBERS = "parameter", "make", "members"  # keys of the metadata of a field
COLUMN = 24  # of the names of options at most, so that 52 characters are left for their help
UNPROVEN = 3
"""Exit code of a command whose result is written, but may exceed the limit on latency."""
Options = TypeVar("Options")
Members = Mapping[str, "Field[Any]"]


class Command(click.Command):
    """A command that refuses an option which takes one value and is given twice."""

    def make_parser(self, ctx: click.Context) -> Any:
        """Return a parser that refuses options given twice."""
        parser = super().make_parser(ctx)
        parse = parser.parse_args

        def parsed(args: list[str]) -> Any:
            found = *_, stated = parse(args)
            once = [p for p in stated if isinstance(p, click.Option) and _takes_one_value(p)]
            twice = [p for i, p in enumerate(once) if p in once[:i]]
            if twice and not ctx.resilient_parsing:  # as for shell completion
                name = twice[0].opts[0]
                raise click.UsageError(f"{name} is given twice, and takes one value", ctx)
            return found

        parser.parse_args = parsed  # type: ignore[method-assign]
        return parser


class Option(click.Option):
    """An option whose help a command may cut at a form feed.

    Attributes
    ----------
    brief
        The help up to there, with the default.
    """

    def __init__(self, *names: Any, **settings: Any) -> None:
        first, _, rest = str(settings.pop("help", None) or "").partition("\f")
        text, bracket, default = first.partition("  [default: ")
        settings["help"] = f"{text} {rest}{bracket}{default}" if rest else first
        super().__init__(*names, **settings)
        self.brief = first


def ending_with(
    noun: str,
    group: str,
    names: Callable[[], Sequence[str]],
    headings: Mapping[str, str] | None = None,
) -> type[Command]:
    """Return a class of commands whose help ends with what packages register, if there is anything.

    Parameters
    ----------
    noun
        What it is, such as ``Families``.
    group
        The group of entry points. What streamplace's own packages say of theirs is in the group
        with ``.about`` at the end.
    names
        Returns the names that installed packages register.
    headings
        Name of the first parameter of each section of options -> its heading. The help of options
        is then brief.
    """
    what = f"{noun} of installed packages"

    class EndingWith(Command):
        def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
            if headings is None:
                super().format_options(ctx, formatter)
                return
            sections: dict[str, list[tuple[str, str]]] = {}
            heading = ""
            for param in self.get_params(ctx):
                heading = headings.get(str(param.name), heading)
                if isinstance(param, click.Option) and (record := param.get_help_record(ctx)):
                    brief = param.brief if isinstance(param, Option) else str(param.help)
                    shown = record[0], record[1].replace(str(param.help), brief)
                    sections.setdefault(heading, []).append(shown)
            for heading, records in sections.items():
                with formatter.section(heading):
                    formatter.write_dl(records, col_max=COLUMN)

        def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
            if about := ours(f"{group}.about"):
                with formatter.section(f"{noun} of published systems"):
                    formatter.write_dl([*about.items()])
            if found := names():
                formatter.write_paragraph()
                formatter.write_text(f"{what}: {', '.join(found)}")

    return EndingWith


def _takes_one_value(of: click.Option) -> bool:
    return not (of.is_flag or of.multiple or of.count)


def option(*names: str, **settings: Any) -> Any:
    """Return a field for an option of these names; `settings` are those of `click.Option`."""
    return field(metadata={PARAMETER: lambda name: Option([*names, name], **settings)})


def argument(**settings: Any) -> Any:
    """Return a field for an argument; `settings` are those of `click.Argument`."""
    return field(metadata={PARAMETER: lambda name: click.Argument([name], **settings)})


def group(cls: type, **replaced: Any) -> Any:
    """Return a field for several options, which are the fields of the dataclass `cls`.

    Parameters
    ----------
    replaced
        Name of a field of `cls` -> the option to have instead, such as one with another help.
    """
    return made_of({**_members(cls), **replaced}, cls)


def made_of(members: Members, make: Callable[..., Any]) -> Any:
    """Return a field for several options, name -> field, whose value `make` makes of theirs."""
    return field(metadata={MEMBERS: members, MAKE: make})


def command(
    cls: type[Options],
    name: str | None = None,
    *,
    of: Callable[..., Any] = click.command,
    kind: type[Command] = Command,
) -> Callable[[Callable[[Options], None]], click.Command]:
    """Return a decorator that makes a click command of a function of its options.

    Parameters
    ----------
    cls
        The dataclass of the options.
    name
        The name of the command; None: that of the function.
    of
        `click.command`, or the method ``command`` of the group that the command belongs to.
    kind
        The class of the command.
    """
    members = _members(cls)

    def decorator(function: Callable[[Options], None]) -> click.Command:
        params = list(_parameters(members))

        def callback(**values: Any) -> None:
            try:
                function(cls(**_values(members, values)))
            except StreamplaceError as error:
                _name_option(error, params)
                raise

        callback.__doc__ = function.__doc__
        made: click.Command = of(name or function.__name__, cls=kind, params=params)(callback)
        return made

    return decorator


def _name_option(error: StreamplaceError, params: Iterable[click.Parameter]) -> None:
    """Name the option of a command instead of the argument of the same name in Python."""
    fault = error.fault
    names = {param.name: param.opts[0] for param in params if isinstance(param, click.Option)}
    if fault.option in names and not fault.origin:  # otherwise it may be a field of a file
        error.update(option=names[fault.option])


def _members(cls: Any) -> dict[str, "Field[Any]"]:
    """Return the fields of a dataclass; those of a base class come after its own."""
    known = {each.name: each for each in fields(cls)}
    return {name: known[name] for base in cls.__mro__ for name in get_annotations(base)}


def _parameters(members: Members) -> Iterator[click.Parameter]:
    for name, each in members.items():
        if MEMBERS in each.metadata:
            yield from _parameters(each.metadata[MEMBERS])
        else:
            yield each.metadata[PARAMETER](name)


def _values(members: Members, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of fields, from those of all options by name."""
    return {
        name: each.metadata[MAKE](**_values(each.metadata[MEMBERS], values))
        if MAKE in each.metadata
        else values[name]
        for name, each in members.items()
    }


def command_line() -> str:
    """Return the command line that runs, as text for a shell."""
    return shlex.join(["streamplace", *click.get_current_context().obj])


def print_json(value: Any) -> None:
    """Print a JSON value on stdout."""
    click.echo(to_json(value), nl=False)


def print_note(text: str) -> None:
    """Print a line on stderr, unless it is empty or --quiet is set."""
    if text and not is_quiet():
        click.echo(text, err=True)


@contextmanager
def leaving(what: Callable[[], str]) -> Iterator[None]:
    """Let the line about a signal, which ends the command, say what goes on then."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit) as stop:
        if goes_on := what():
            stop.add_note(goes_on)
        raise


class Answer(Protocol):
    """An answer whether a limit is kept."""

    @property
    def answer(self) -> str:
        """The answer in a word, such as ``unproven``."""
        ...

    @property
    def limit(self) -> object:
        """The limit, whose text messages show."""
        ...


def end_if_unproven(latency: Answer | None) -> None:
    """End the command with exit code `UNPROVEN` and a note if a limit on latency is not proven.

    Everything else must have been written before.
    """
    if latency is not None and latency.answer == "unproven":
        print_note(f"latency limit {latency.limit}: unproven (exit code {UNPROVEN})")
        raise SystemExit(UNPROVEN)
