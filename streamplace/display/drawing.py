"""Drawings of graphs for notebooks: SVG without scripts, with all text escaped.

Operators stand in a column for each level, in the order of the sequence, so that streams lead from
left to right. The report page, which also arranges them within a level, is for larger graphs.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil

from streamplace.util.text import shortened

MAX_NODES = 60  # larger graphs are not drawn
WIDTH, HEIGHT = 104, 24  # of a node, in pixels
ACROSS, DOWN = 148, 34  # from one node to the next
MARGIN = 6
LETTERS = 15  # of a name within a node
KEYS, KEY_WIDTH, KEY_LETTERS = 12, 150, 20  # of the key to the groups
STYLE = "max-width:100%;height:auto;font:11px sans-serif"
HUES = (212, 38, 160, 272, 96, 320, 186, 56, 244, 22)  # those of the report page


@dataclass(frozen=True)
class Drawing:
    """A graph whose nodes may belong to groups.

    Parameters
    ----------
    names, levels
        The name and the level, from 0, of every node.
    edges
        Numbers of the nodes at both ends.
    groups
        The number of each node's group; empty: there are none.
    group_names
        The names of all groups.
    """

    names: Sequence[str]
    levels: Sequence[int]
    edges: Sequence[tuple[int, int]]
    groups: Sequence[int] = ()
    group_names: Sequence[str] = ()

    def svg(self) -> str:
        """Return the drawing as an SVG element."""
        tallest = max(Counter(self.levels).values())
        rows: Counter[int] = Counter()
        of_level = Counter(self.levels)
        places = []
        for level in self.levels:
            above = (tallest - of_level[level]) / 2
            places.append((MARGIN + level * ACROSS, MARGIN + (rows[level] + above) * DOWN))
            rows[level] += 1
        width = 2 * MARGIN + max(self.levels) * ACROSS + WIDTH
        height = 2 * MARGIN + (tallest - 1) * DOWN + HEIGHT
        key, below = self._key(width, height)
        parts = [
            *(_edge(places[a], places[b]) for a, b in self.edges),
            *(self._node(i, *places[i]) for i in range(len(self.names))),
            *key,
        ]
        size = f'width="{width}" height="{height + below}" viewBox="0 0 {width} {height + below}"'
        return f'<svg {size} style="{STYLE}">{"".join(parts)}</svg>'

    def _node(self, i: int, x: float, y: float) -> str:
        fill, text = "none", "currentColor"
        if self.groups:
            fill, text = _colour(self.groups[i]), "#000"
        box = f'x="{x:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="5"'
        where = f'x="{x + WIDTH / 2:g}" y="{y + HEIGHT / 2 + 4:g}" text-anchor="middle"'
        name = self.names[i]
        return (
            f'<rect {box} fill="{fill}" stroke="currentColor"/>'
            f'<text {where} fill="{text}">{escape(shortened(name, LETTERS))}'
            f"<title>{escape(shortened(name, 80))}</title></text>"
        )

    def _key(self, width: int, top: int) -> tuple[list[str], int]:
        """Return the key to the colours of groups that have nodes, and its height."""
        used = sorted(set(self.groups))
        shown = used[:KEYS]
        entries = [(_colour(g), shortened(self.group_names[g], KEY_LETTERS)) for g in shown]
        if more := len(used) - len(shown):
            entries.append(("none", f"and {more} more"))
        columns = max(1, width // KEY_WIDTH)
        parts = []
        for number, (colour, name) in enumerate(entries):
            x, y = MARGIN + number % columns * KEY_WIDTH, top + number // columns * 18 + 4
            parts.append(
                f'<rect x="{x}" y="{y}" width="11" height="11" fill="{colour}"/>'
                f'<text x="{x + 17}" y="{y + 10}" fill="currentColor">{escape(name)}</text>'
            )
        return parts, 18 * ceil(len(entries) / columns) + MARGIN if entries else 0


def _edge(source: tuple[float, float], target: tuple[float, float]) -> str:
    (x, y), (to_x, to_y) = source, target
    x, y, to_y = x + WIDTH, y + HEIGHT / 2, to_y + HEIGHT / 2
    middle = (x + to_x) / 2
    curve = f"M{x:g} {y:g}C{middle:g} {y:g} {middle:g} {to_y:g} {to_x:g} {to_y:g}"
    return f'<path d="{curve}" fill="none" stroke="currentColor" opacity="0.5"/>'


def _colour(group: int) -> str:
    """Return the colour of a group, as the report page colours devices."""
    hue = HUES[group] if group < len(HUES) else 20 + group * 137.508 % 320
    return f"hsl({hue:.0f},55%,70%)"
