"""Views for notebooks: plain HTML tables, every text escaped."""

from html import escape

from streamplace.views.of import view
from streamplace.views.view import Grid


def in_html(thing: object) -> str:
    """Return a thing as HTML: no scripts, no styles of the page's, no markup from names."""
    shown = view(thing)
    tables = "".join(map(_table, shown.grids))
    return f"<div><p>{_text(shown.title)}</p>{tables}</div>"


def _table(shown: Grid) -> str:
    head = "".join(f"<th>{_text(name)}</th>" for name in shown.head)
    rows = "".join(_row(row) for row in shown.rows)
    more = ""
    if shown.left_out:
        more = f'<tr><td colspan="{len(shown.head)}">and {shown.left_out:,} more</td></tr>'
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}{more}</tbody></table>"


def _row(cells: tuple[str, ...]) -> str:
    return "<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in cells) + "</tr>"


def _text(text: str) -> str:
    """Return text that cannot be markup, and whose direction of writing changes nothing else's."""
    return f"<bdi>{escape(text)}</bdi>"
