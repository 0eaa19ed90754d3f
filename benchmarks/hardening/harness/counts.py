"""Counts of tries and faults, from which a row is made."""

from collections import Counter
from dataclasses import dataclass, field

from benchmarks.hardening.harness.rows import MAX_FAULTS, Row


@dataclass
class Count:
    """Counts from which a row of the table is made.

    Parameters
    ----------
    what
        What is tried.
    kinds
        The kinds of faults.
    figures
        Further measurements.
    faults
        Descriptions of the first faults.
    group
        The group of rows that are summed in docs/reliability.md; empty for a row without a group.
    """

    what: str
    kinds: tuple[str, ...] = field(default=(), kw_only=True)
    tried: int = field(default=0, kw_only=True)
    wrong: Counter[str] = field(default_factory=Counter, kw_only=True)
    figures: dict[str, str] = field(default_factory=dict, kw_only=True)
    faults: list[str] = field(default_factory=list, kw_only=True)
    group: str = field(default="", kw_only=True)

    def add_fault(self, description: str) -> None:
        """Keep the description of a fault, up to a maximum number."""
        if len(self.faults) < MAX_FAULTS:
            self.faults.append(description)

    def row(self) -> Row:
        """Return the row of the table."""
        wrong = {kind: self.wrong[kind] for kind in self.kinds}
        return Row(self.what, self.tried, wrong, dict(self.figures), self.faults, self.group)
