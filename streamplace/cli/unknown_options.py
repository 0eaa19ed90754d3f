"""Messages about options that a command does not have."""

import re
from collections.abc import Iterator

import click

from streamplace.cli.registered import files
from streamplace.util.suggest import NEAR, closest_match, with_words

SHOWN = 3  # commands named
LONG = "--"


def unknown_option(error: click.NoSuchOption) -> str:
    """Return the message: the option that was probably meant, or the commands that have it."""
    name, context = error.option_name, error.ctx
    if context is None:
        return f"unknown option {name!r}"
    joined = [word for word in context.obj or () if word[:2] == name != LONG and word[2:]]
    if joined:  # such as -placer, of which click reads -p
        name = f"-{joined[0].partition('=')[0]}"
    message = f"unknown option {(joined or [name])[0]!r}"
    params = context.command.params
    if name.removeprefix(LONG) in {p.name for p in params if isinstance(p, click.Argument)}:
        return f"{message}; write its value as an argument, without {name}"
    is_known, group = name.startswith(LONG) and _is_written(name), context.parent
    having: list[str] = []
    if is_known and group and group.parent:  # such as --seeds, of another study
        having += _commands_with(name, group, f"{group.info_name} ")
    meant = None if having else _similar_option(name, params)
    if meant is not None:
        return f"{message}; did you mean {meant!r}?"
    if is_known and not having:
        having += _commands_with(name, context.find_root())
    if not having:
        return message
    *others, last = having if len(having) <= SHOWN else [*having[:SHOWN], "others"]
    whose = f"{', '.join(others)} and {last} have" if others else f"{last} has"
    return f"{message}; {whose} it"


def _similar_option(name: str, params: list[click.Parameter]) -> str | None:
    """Return the option with a similar name, or else the only one that has the words of it."""
    shown = [p for p in params if isinstance(p, click.Option) and not p.hidden]
    names = {o.removeprefix(LONG): o for p in shown for o in p.opts if o.startswith(LONG)}
    if any("-o" in p.opts for p in shown):
        names |= dict.fromkeys(("out", "output"), "-o")
    typed = name.removeprefix(LONG)
    close = closest_match(typed, names, NEAR)
    found = [close] if close else with_words(typed, names)
    return names[found[0]] if len(found) == 1 else None


def _is_written(name: str) -> bool:
    """Return whether a module of the command line has an option; to load all takes a second.

    Modules contain its name, or declare a setting of which an option is made.
    """
    field = re.escape(name.removeprefix(LONG).replace("-", "_"))
    word = re.compile(rf'{re.escape(name)}(?![\w-])|"{field}"|\b{field}(?:_s)?: .+ = setting\(')
    return any(word.search(file.read_text("utf-8")) for file in files())


def _commands_with(name: str, group: click.Context, before: str = "") -> Iterator[str]:
    """Yield the commands of a group that have an option, with `before` before their names."""
    for called, command in _commands(group, before):
        if any(name in p.opts for p in command.params if not getattr(p, "hidden", False)):
            yield called


def _commands(context: click.Context, before: str) -> Iterator[tuple[str, click.Command]]:
    group = context.command
    if not isinstance(group, click.Group):
        return
    for each in group.list_commands(context):
        name, command, _ = group.resolve_command(context, [each])
        if command is not None:
            yield f"{before}{name}", command
            within = click.Context(command, parent=context)
            yield from _commands(within, f"{before}{name} ")
