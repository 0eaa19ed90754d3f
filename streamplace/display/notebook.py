"""Renderer of views for notebooks: HTML and SVG without scripts, with all text escaped."""

from collections.abc import Iterable, Sequence
from html import escape

from streamplace.display.view import Cell, Grid, Line, View, short


def render(view: View) -> str:
    """Return a view as HTML."""
    parts = (
        _paragraph(part) if isinstance(part, Line) else _table(part, view.rows)
        for part in view.body
    )
    drawn = "" if view.drawing is None else view.drawing()
    return f"<div><p>{_text(view.title)}</p>{drawn}{''.join(parts)}</div>"


def _paragraph(line: Line) -> str:
    names = (_text(short(name)) for name in line.names)
    return f"<p>{escape(line.text).format(*names)}</p>"


def _table(grid: Grid, limit: int) -> str:
    sides = ["left" if i in grid.names else "right" for i in range(len(grid.head))]
    head = _cells("th", grid.head, sides)
    rows = "".join(f"<tr>{_cells('td', row, sides)}</tr>" for row in grid.rows(limit))
    if remainder := grid.remainder(limit):
        rows += f'<tr><td colspan="{len(grid.head)}">{_text(remainder)}</td></tr>'
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _cells(tag: str, cells: Iterable[Cell], sides: Sequence[str]) -> str:
    return "".join(
        f'<{tag} style="text-align:{side}">{_text(short(cell))}</{tag}>'
        for cell, side in zip(cells, sides, strict=True)
    )


def _text(text: str) -> str:
    """Return escaped text, isolated so that right-to-left text does not affect its neighbours."""
    return f"<bdi>{escape(text)}</bdi>"
