"""A table of a study, as CSV, Markdown and LaTeX."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from streamplace.display.paper_table import Best, PaperTable, Place, best_places
from streamplace.display.view import Grid
from streamplace.files.reading import to_csv

Value = float | int | str | None
Cell = Value | tuple[Value, ...]
"""A value, or one for each of the table's variants; None is an unknown value."""

UNKNOWN = "-"
DIGITS = 3  # of a ratio in sentences


@dataclass(frozen=True)
class Table:
    """Figures by row and column.

    Parameters
    ----------
    name
        The name of its files, without a suffix.
    caption
        What the figures are, with units.
    head
        The titles of all columns, that of the names first.
    rows
        The name of each row and its cells, one for every further column.
    variants
        Names of the values of cells with several, such as ``1e4/s`` and ``2e4/s``. A Markdown cell
        holds the first value, followed by the others in brackets; CSV has a column for each.
    best
        Title of a column -> `max` or `min`, which finds the best of the values of that column, in
        bold print; of cells with several values, the first one counts, as it is shown. Columns
        without it order rows that are about different problems, or none.
    best_in_row
        The same for all cells of a row, whose columns are the systems.
    """

    name: str
    caption: str
    head: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Cell]]]
    variants: Sequence[str] = ()
    best: Mapping[str, Best] = field(default_factory=dict)
    best_in_row: Best | None = None

    def csv(self) -> str:
        """Return the table as CSV, with all digits and empty cells for unknown values."""
        head = [self.head[0]]
        columns = range(len(self.head) - 1)
        several = [any(isinstance(cells[j], tuple) for _, cells in self.rows) for j in columns]
        for title, has_several in zip(self.head[1:], several, strict=True):
            head += [f"{title}, {name}" for name in self.variants] if has_several else [title]
        return to_csv(head, ([name, *self._flat(cells, several)] for name, cells in self.rows))

    def markdown(self) -> str:
        """Return the table as Markdown, below its caption."""
        return self._paper_table().markdown()

    def latex(self, study: str = "", made_by: str = "") -> str:
        """Return the table as LaTeX, which needs the package booktabs.

        Parameters
        ----------
        study
            The name of the study, for the label.
        made_by
            What the caption says of how the figures were found.
        """
        return self._paper_table(f"{study} {self.name}", made_by).latex()

    def _paper_table(self, label: str = "", made_by: str = "") -> PaperTable:
        rows = [(name, *cells) for name, cells in self._texts()]
        bold = "Bold: the best of a column" if self.best else ""
        if self.best_in_row is not None:
            bold = "Bold: the best of a row"
        if bold and self.variants:
            bold += f" ({self.variants[0]})"
        caption = ". ".join(filter(None, (self.long_caption, bold, made_by)))
        caption = caption[:1].upper() + caption[1:]
        return PaperTable(label, caption, self.head, rows, self._words, self._bold())

    def _bold(self) -> set[Place]:
        """Return the places of the best values."""
        firsts = [[_values(cell)[0] for cell in cells] for _, cells in self.rows]
        rows = [
            [((i, j), value, _value_text(value)) for j, value in enumerate(values, start=1)]
            for i, values in enumerate(firsts)
        ]
        found = set[Place]()
        if self.best_in_row is not None:
            found.update(*(best_places(row, self.best_in_row) for row in rows))
        for title, column in zip(self.head[1:], zip(*rows, strict=True), strict=False):
            if title in self.best:
                found |= best_places(column, self.best[title])
        return found

    def grid(self, *expendable: str) -> Grid:
        """Return the table for display on a terminal; columns with words are left-aligned.

        Parameters
        ----------
        expendable
            Titles of columns that may be left out where the table is too wide.
        """
        texts = [(name, *cells) for name, cells in self._texts()]
        return Grid(
            tuple(self.head), len(texts), texts.__getitem__, self._words, expendable=expendable
        )

    @property
    def _words(self) -> tuple[int, ...]:
        """The numbers of the columns with words, and of that with the names."""
        columns = enumerate(zip(*(cells for _, cells in self.rows), strict=True), start=1)
        return (0, *(i for i, column in columns if any(map(_begins_with_a_letter, column))))

    def to_dict(self) -> dict[str, Any]:
        """Return the table as JSON values; a cell with several values is a list."""
        rows = [
            [name, *(list(cell) if isinstance(cell, tuple) else cell for cell in cells)]
            for name, cells in self.rows
        ]
        return {
            "name": self.name,
            "caption": self.caption,
            "head": list(self.head),
            "variants": list(self.variants),
            "rows": rows,
        }

    @property
    def long_caption(self) -> str:
        """The caption, with what the values of a cell with several are."""
        if not self.variants:
            return self.caption
        first, *others = self.variants
        return f"{self.caption} ({first}; in brackets: {', '.join(others)})"

    def _flat(self, cells: Sequence[Cell], several: Sequence[bool]) -> Iterator[Value]:
        for cell, has_several in zip(cells, several, strict=True):
            values = _values(cell)
            if has_several:
                values += (None,) * (len(self.variants) - len(values))
            yield from ("" if value is None else value for value in values)

    def _texts(self) -> Iterator[tuple[str, list[str]]]:
        for name, cells in self.rows:
            yield name, [_text(cell) for cell in cells]


def _begins_with_a_letter(cell: Cell) -> bool:
    return isinstance(cell, str) and cell[:1].isalpha()


def _values(cell: Cell) -> tuple[Value, ...]:
    return cell if isinstance(cell, tuple) else (cell,)


def _text(cell: Cell) -> str:
    first, *others = (_value_text(value) for value in _values(cell))
    known = [text for text in others if text != UNKNOWN]
    return f"{first} ({', '.join(known)})" if known else first


def _value_text(value: Value) -> str:
    if value is None:
        return UNKNOWN
    return f"{value:.3f}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Spread:
    """The mean, the lowest and the highest of a figure over seeds or repeats."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Self | None:
        """Return that of some values; None if there are none."""
        return cls(sum(values) / len(values), min(values), max(values)) if values else None

    def __str__(self) -> str:
        text = f"{self.mean:.{DIGITS}f}"
        return text if self.range is None else f"{text} ({self.range})"

    @property
    def range(self) -> str | None:
        """The lowest and the highest as text; None if they are equal in print."""
        low, high = f"{self.low:.{DIGITS}f}", f"{self.high:.{DIGITS}f}"
        return None if low == high else f"{low} to {high}"


def cell(spread: Spread | None) -> Cell:
    """Return the cell of a table: the mean, and the range as text."""
    return None if spread is None else (spread.mean, spread.range)
