"""Names of formats as values of options, and the list of formats in the help of a command."""

from inspect import cleandoc
from typing import Any, Literal

import click
from click.shell_completion import CompletionItem

from streamplace.cli.command import Command
from streamplace.cli.param_types import Choice
from streamplace.formats.registry import FORMATS, format_named, formats
from streamplace.util.plugins import is_custom

LIST = "FORMATS"
"""The line of a docstring that stands for the list."""
WIDTH = 19  # of names in the list
Use = Literal["reads", "writes"]


class FormatName(click.ParamType[str]):
    """The name of a format that `import` reads, or `export` writes.

    All formats are loaded only for completion and for the error about an unknown name.

    Parameters
    ----------
    own
        Further names.
    """

    name = "format"

    def __init__(self, use: Use, *own: str) -> None:
        self.use, self.own = use, own

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name, or fail with a suggestion."""
        alone = value in FORMATS or is_custom(value)
        if value in self.own or (alone and getattr(format_named(value), self.use)):
            return str(value)
        return self._choice().convert(value, param, ctx)

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str | None:
        """Return all names, for the error about a missing option."""
        return self._choice().get_missing_message(param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list["CompletionItem[str]"]:
        """Return the names that begin with the text typed so far."""
        return self._choice().shell_complete(ctx, param, incomplete)

    def _choice(self) -> Choice:
        return Choice([*self.own, *(each.name for each in formats() if getattr(each, self.use))])


class _ListsFormats(Command):
    """A command whose help lists formats in the place of a line `LIST`."""

    use: Use

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help with a line for each format."""
        plain = self.help or ""
        rows = (f"{each.name:{WIDTH}}{each.about}" for each in formats() if getattr(each, self.use))
        self.help = cleandoc(plain).replace(LIST, "\n".join(rows))
        try:
            super().format_help_text(ctx, formatter)
        finally:
            self.help = plain


class ListsReaders(_ListsFormats):
    """A command whose help lists the formats that are read."""

    use = "reads"


class ListsWriters(_ListsFormats):
    """A command whose help lists the formats that are written."""

    use = "writes"
