"""What the score of a pass consists of: its parts in seconds, in words and as a table."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import fsum
from typing import Any, ClassVar

from streamplace.display.text import number, percent
from streamplace.display.view import Cell, Grid, Line, Names


@dataclass(frozen=True)
class ScoreDivision:
    """The parts of the score of a pass, in seconds.

    Attributes
    ----------
    quantity
        What is divided, in words; see `Objective`.
    words
        Field of a part -> its name in words.
    """

    quantity: ClassVar[str]
    words: ClassVar[Mapping[str, str]]

    def to_dict(self) -> dict[str, Any]:
        """Return the entry ``division`` of `explain --json`."""
        return asdict(self)

    @property
    def parts(self) -> list[tuple[str, float]]:
        """The parts above 0, in words and in seconds, the largest first."""
        parts = [(text, float(getattr(self, name))) for name, text in self.words.items()]
        return sorted((part for part in parts if part[1] > 0.0), key=lambda part: -part[1])

    def lines(self) -> tuple[Line, ...]:
        """Return what the parts are about as lines."""
        return ()

    def grid(self) -> Grid:
        """Return the parts as a table, with their shares of their sum."""
        parts = self.parts
        whole_s = fsum(seconds for _, seconds in parts)

        def row(i: int) -> tuple[Cell, ...]:
            text, seconds = parts[i]
            return text, number(seconds), percent(seconds / whole_s)

        head = (f"part of the {self.quantity}", "seconds", "share")
        return Grid(head, len(parts), row, max_rows=len(self.words))


@dataclass(frozen=True)
class MakespanDivision(ScoreDivision):
    """Parts of the makespan in seconds, along the inputs that the last operator waited for.

    Parameters
    ----------
    chain
        The operators: from a source to the one that ends last, each with the producer of the input
        that arrived last before it.
    work_s
        Execution of these operators.
    messages_s
        Transfer and latency of the messages between them.
    overheads_s
        CPU time to send and receive these messages, and waiting for a core for it.
    waiting_for_devices_s
        Time in which these operators could run but did not.
    waiting_for_channels_s
        Time in which these messages waited for other messages.
    waiting_for_levels_s
        Time in which these operators waited at the barrier.
    """

    quantity: ClassVar[str] = "makespan"
    words: ClassVar[Mapping[str, str]] = {
        "work_s": "work",
        "messages_s": "messages",
        "overheads_s": "sending and receiving on cores",
        "waiting_for_devices_s": "waiting for devices",
        "waiting_for_channels_s": "waiting for channels",
        "waiting_for_levels_s": "waiting for levels",
    }

    chain: tuple[str, ...]
    work_s: float
    messages_s: float
    overheads_s: float
    waiting_for_devices_s: float
    waiting_for_channels_s: float
    waiting_for_levels_s: float

    def to_dict(self) -> dict[str, Any]:
        """Return the entry ``division`` of `explain --json`."""
        return {**asdict(self), "chain": list(self.chain)}

    def lines(self) -> tuple[Line, ...]:
        """Return the chain of operators as a line."""
        return (Line("chain of last inputs: {}", (Names.of(self.chain, " -> "),)),)
