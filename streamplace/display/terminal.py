"""Views for terminals, by rich. Cells are `Text`, in which nothing is markup."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from streamplace.display.of import view
from streamplace.display.view import Grid


def in_rich(thing: object) -> RenderableType:
    """Return what rich prints of a thing."""
    shown = view(thing)
    return Group(Text(shown.title), *(_table(table) for table in shown.grids))


def _table(shown: Grid) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for i, name in enumerate(shown.head):
        table.add_column(name, justify="right" if shown.is_of_numbers(i) else "left")
    for row in shown.rows:
        table.add_row(*map(Text, row))
    if shown.left_out:
        table.add_row(Text(f"and {shown.left_out:,} more"))
    return table
