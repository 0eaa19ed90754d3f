"""The registered plan of the study: sizes, systems and problems, fixed before it was run."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from streamplace.policy.registry import PolicySection, policy_section

WINS = {
    "GiPH-3": (53.0, 7.0, 40.0),
    "GiPH-5": (55.2, 6.4, 38.4),
    "GiPH-NE": (74.8, 2.4, 22.8),
    "GiPH-NE-Pol": (60.6, 6.0, 33.4),
    "GiPH-task-EFT": (82.2, 3.0, 14.8),
    "HEFT": (59.0, 5.2, 35.8),
}
"""Table 6: rival -> percent of 1,000 cases on which GiPH is better, equal and worse."""

SECONDS = {
    "GiPH": 0.340,
    "GiPH-3": 0.114,
    "GiPH-5": 0.132,
    "GiPH-NE": 0.240,
    "GiPH-NE-Pol": 0.027,
    "GraphSAGE-NE": 0.138,
    "Placeto": 0.162,
}
"""Table 7: seconds of a relocation when a placement is searched."""


GIPH = "GiPH"
PAPER_TRAINED = "GiPH, trained as in the paper"
OURS = "GiPH with ends and criticality"
PLACETO = "Placeto"


def _giph(**sizes: object) -> PolicySection:
    return policy_section({"kind": "giph", "sizes": sizes})


SYSTEMS: Mapping[str, PolicySection] = {
    GIPH: _giph(),
    PAPER_TRAINED: _giph(),
    OURS: _giph(criticality=0.1, finish=True),
    "GiPH-3": _giph(variant="giph-k", rounds=3),
    "GiPH-5": _giph(variant="giph-k", rounds=5),
    "GiPH-NE": _giph(variant="giph-ne"),
    "GiPH-NE-Pol": _giph(variant="giph-ne-pol"),
    "GraphSAGE-NE": _giph(variant="graphsage-ne"),
    "GiPH-task-EFT": _giph(variant="task-eft"),
    "GiPH without potential": _giph(potential=False),
    PLACETO: policy_section({"kind": "placeto", "sizes": {"devices": 20}}),
}
"""The policies of the paper and its ablations, and GiPH with further features."""

PER_OPERATOR = (0.5, 1.0, 1.5, 2.0)
"""Evaluations per operator after which the lowest makespan is recorded; an episode has two."""


@dataclass(frozen=True)
class Registered:
    """The size of the study.

    Parameters
    ----------
    cases
        Named test cases of each setting.
    drawn
        Cases for counts of wins, each with a graph and a network of its own.
    seeds
        Training seeds of every policy on the released settings.
    other_seeds
        Training seeds in the other experiments.
    epochs
        Setting -> passes over its training cases, with one update per case.
    training_cases
        Setting -> number of training cases.
    samples
        Episodes per update.
    graphs, changes
        Task graphs on the changing cluster, and its changes.
    """

    cases: int = 60
    drawn: int = 1000
    seeds: int = 5
    other_seeds: int = 2
    epochs: Mapping[str, int] = field(default_factory=lambda: {"single": 1, "several": 3})
    training_cases: Mapping[str, int] = field(
        default_factory=lambda: {"single": 300, "several": 120}  # all that there are
    )
    samples: int = 4
    graphs: int = 20
    changes: int = 20

    def settings(self) -> Mapping[str, Any]:
        """Return the plan as JSON values."""
        return {**asdict(self), "systems": list(SYSTEMS), "per_operator": list(PER_OPERATOR)}


FULL = Registered()
QUICK = Registered(
    cases=3,
    drawn=10,
    seeds=1,
    other_seeds=1,
    epochs={"single": 1, "several": 1},
    training_cases={"single": 4, "several": 4},
    samples=2,
    graphs=1,
    changes=4,
)
