"""Renderer of views for `rich.print`; cells are `Text`, so that names are never markup."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from streamplace.display.view import Grid, Line, View, short


def render(view: View) -> RenderableType:
    """Return a view as a renderable of rich."""
    parts: list[RenderableType] = [Text(view.title)]
    for part in view.body:
        if isinstance(part, Line):
            parts.append(Text(part.text.format(*map(short, part.names))))
            continue
        parts.append(_table(part, view.rows))
        if remainder := part.remainder(view.rows):
            parts.append(Text(remainder))
    return Group(*parts)


def _table(grid: Grid, limit: int) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for i, name in enumerate(grid.head):
        table.add_column(name, justify="left" if i in grid.names else "right")
    for row in grid.rows(limit):
        table.add_row(*(Text(short(cell)) for cell in row))
    return table
