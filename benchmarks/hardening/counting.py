"""A count of what was tried, and of what went wrong with it."""

from collections import Counter
from dataclasses import dataclass, field

from benchmarks.hardening.rows import MOST_FAULTS, Row


@dataclass
class Count:
    """What becomes a line of the table.

    Parameters
    ----------
    what
        Is tried.
    kinds
        Of what may go wrong.
    figures
        What was measured besides.
    faults
        The first few.
    group
        Of lines that count the same.
    """

    what: str
    kinds: tuple[str, ...] = field(default=(), kw_only=True)
    tried: int = field(default=0, kw_only=True)
    wrong: Counter[str] = field(default_factory=Counter, kw_only=True)
    figures: dict[str, str] = field(default_factory=dict, kw_only=True)
    faults: list[str] = field(default_factory=list, kw_only=True)
    group: str = field(default="", kw_only=True)

    def tell(self, said: str) -> None:
        """Keep what tells how a fault can be made again, of the first few."""
        if len(self.faults) < MOST_FAULTS:
            self.faults.append(said)

    def row(self) -> Row:
        """Return the line of the table."""
        wrong = {kind: self.wrong[kind] for kind in self.kinds}
        return Row(self.what, self.tried, wrong, dict(self.figures), self.faults, self.group)
