"""Explanations: what makes the bottleneck of a placement, and which single moves would help."""

from dataclasses import asdict, dataclass
from typing import Any

from streamplace.scoring.score import ThroughputScore
from streamplace.workflows.improving_moves import COUNTS, ImprovingMove


@dataclass(frozen=True)
class Contribution:
    """What an operator takes of the device, or a stream of the link, that is the bottleneck.

    Parameters
    ----------
    names
        The operator's, or those of the operators that the stream joins.
    share
        Of the bottleneck's utilisation.
    """

    names: tuple[str, ...]
    utilisation: float
    share: float

    def to_dict(self) -> dict[str, Any]:
        """Return what `explain --json` prints of it."""
        keys = ("operator",) if len(self.names) == 1 else ("from", "to")
        who = dict(zip(keys, self.names, strict=True))
        return {**who, "utilisation": self.utilisation, "share": self.share}


@dataclass(frozen=True)
class Explanation:
    """Why a placement does not do better.

    Parameters
    ----------
    score
        Under the problem's model; under `bottleneck` where that is the engine.
    rate_factor
        How many times the source rate would fill what may be used of the bottleneck: below 1 it
        limits. None where nothing is used at all.
    contributions
        To the bottleneck, the largest first.
    moves
        Those that help, most first, at most 1,000; they lead to feasible placements.
    every_move_tried
        Whether no other single move can help; else only those of units that load the bottleneck
        most were tried.
    """

    score: ThroughputScore
    rate_factor: float | None
    contributions: tuple[Contribution, ...]
    moves: tuple[ImprovingMove, ...]
    every_move_tried: bool

    @property
    def limited(self) -> bool:
        """Whether anything keeps the placement from the source rate."""
        return self.rate_factor is not None and self.rate_factor < 1 - COUNTS

    def to_dict(self) -> dict[str, Any]:
        """Return what `explain --json` prints."""
        return {
            "throughput": self.score.throughput,
            "relative_throughput": self.score.relative_throughput,
            "bottleneck": asdict(self.score.bottleneck),
            "rate_factor": self.rate_factor,
            "contributors": [one.to_dict() for one in self.contributions],
            "moves": [move.to_dict() for move in self.moves],
            "every_move_tried": self.every_move_tried,
            "model": self.score.model,
        }
