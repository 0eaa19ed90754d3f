"""Views for notebooks: plain HTML tables, every text escaped."""

from html import escape

from streamplace.display.of import view
from streamplace.display.view import Grid


def in_html(thing: object) -> str:
    """Return a thing as HTML: no scripts, no markup from names."""
    shown = view(thing)
    tables = "".join(map(_table, shown.grids))
    return f"<div><p>{_text(shown.title)}</p>{tables}</div>"


def _table(shown: Grid) -> str:
    sides = ["right" if shown.is_of_numbers(i) else "left" for i in range(len(shown.head))]
    head = _cells("th", shown.head, sides)
    rows = "".join(f"<tr>{_cells('td', row, sides)}</tr>" for row in shown.rows)
    more = ""
    if shown.left_out:
        more = f'<tr><td colspan="{len(shown.head)}">and {shown.left_out:,} more</td></tr>'
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}{more}</tbody></table>"


def _cells(tag: str, cells: tuple[str, ...], sides: list[str]) -> str:
    return "".join(
        f'<{tag} style="text-align:{side}">{_text(cell)}</{tag}>'
        for cell, side in zip(cells, sides, strict=True)
    )


def _text(text: str) -> str:
    """Return text that cannot be markup, and whose direction of writing changes nothing else's."""
    return f"<bdi>{escape(text)}</bdi>"
