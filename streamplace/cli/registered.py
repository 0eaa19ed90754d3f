"""The commands that the packages of streamplace and installed packages register.

A package of streamplace lists its commands in its file of entry points, and says there what their
help begins with (see `streamplace.util.entry_points`), so that they are listed without being
loaded. The name `profile torch` adds the command `torch` to the group `profile`.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from streamplace.errors import UsageError
from streamplace.util.entry_points import ours
from streamplace.util.plugins import installed, load_installed, load_ours

GROUP = "streamplace.commands"
ABOUT = "streamplace.commands.about"
"""Group of entry points: the first line of the help of each command of ours."""
TAKES = "streamplace.commands.takes"
"""Group of entry points: the arguments that a command takes, for the error about further ones."""
NOUN = "command"


class Commands(click.Group):
    """A group of registered commands, each of which is loaded when it runs or shows its help.

    Until then, a command without options stands in for it, which help and completion list.
    Installed packages are looked for when all commands are listed, or a name is not one of ours.

    Parameters
    ----------
    within
        The words before the names of its commands: nothing, or those of a group, such as
        ``profile``, and a space.
    """

    def __init__(self, *positional: Any, within: str = "", **settings: Any) -> None:
        super().__init__(*positional, **settings)
        self.within = within

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of streamplace's commands, then those of installed packages."""
        own = self._members(ours(GROUP))
        return [*own, *(name for name in self._members(installed(GROUP)) if name not in own)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return what stands in for a command; None if there is no such command."""
        name = self.within + cmd_name
        if cmd_name in self._members(ours(GROUP)):
            return click.Command(cmd_name, short_help=ours(ABOUT)[name])
        if cmd_name not in self._members(points := installed(GROUP)):
            return None
        point = points.get(name)
        owner = "an installed package" if point is None or point.dist is None else point.dist.name
        return click.Command(cmd_name, short_help=f"A command of {owner}.")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the name of a command, the command itself, and its arguments."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else self._loaded(name), rest

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the group is for; a group within another one has its commands' examples."""
        super().format_help_text(ctx, formatter)
        if self.within:
            loaded = [self._loaded(name) for name in self._members(ours(GROUP))]
            examples = [line for command in loaded for line in [*_examples(command)][:1]]
            title = "Examples:" if len(examples) > 1 else "Example:"
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text("\n".join(["\b", title, *examples]))

    def _members(self, names: Iterable[str]) -> list[str]:
        """Return the names of the group's commands, each the next word of registered names."""
        within = (name.removeprefix(self.within) for name in names if name.startswith(self.within))
        return sorted({name.partition(" ")[0] for name in within})

    def _loaded(self, cmd_name: str) -> click.Command:
        """Return a command that the group has."""
        name = self.within + cmd_name
        if (path := ours(GROUP).get(name)) is not None:
            command = load_ours(path)
        elif (about := ours(ABOUT).get(name)) is not None:
            return Commands(cmd_name, within=f"{name} ", help=about)
        elif (point := installed(GROUP).get(name)) is not None:
            command = load_installed(point, NOUN)
        else:
            return Commands(cmd_name, within=f"{name} ")
        if not isinstance(command, click.Command):
            raise UsageError(f"{NOUN} {name!r}: is not a click.Command")
        return command


def _examples(command: click.Command) -> Iterator[str]:
    lines = (line.strip() for line in (command.help or "").splitlines())
    return (line for line in lines if line.startswith("streamplace "))


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="streamplace")
def cli() -> None:
    """Decide which device runs which operator of a stream-processing job.

    \b
    Examples:
    streamplace init
    streamplace place graph.json --cluster cluster.json -o placement.json
    streamplace report placement.json -o report.html
    streamplace compare dataset:real --devices 3x2500 --placers metis,fuser,auto
    """


def files() -> Iterator[Path]:
    """Yield the files that declare the options of streamplace's commands.

    They are those in the folders of the modules of commands, and the settings of which commands
    make options.
    """
    root = Path(__file__).parents[1]
    modules = [path.partition(":")[0].split(".")[1:] for path in ours(GROUP).values()]
    for folder in {root.joinpath(*names).parent for names in modules}:
        yield from folder.glob("*.py")
    yield from root.glob("*/settings.py")
