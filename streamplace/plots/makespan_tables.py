"""Tables of a comparison of makespans as Markdown and LaTeX."""

from streamplace.plots.markup import Rows, latex, markdown
from streamplace.workflows.makespan_comparison import MakespanComparison


def markdown_table(comparison: MakespanComparison) -> str:
    """Return the table as Markdown, below a caption."""
    return markdown(comparison.headline, list(comparison.columns), _rows(comparison))


def latex_table(comparison: MakespanComparison) -> str:
    """Return the table as LaTeX, which needs the package booktabs."""
    return latex(comparison.headline, list(comparison.columns), _rows(comparison))


def _rows(comparison: MakespanComparison) -> Rows:
    for i, placer in enumerate(comparison.placers):
        yield placer, comparison.cells(i)[1:]
