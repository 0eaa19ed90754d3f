"""Orders that coincide on some graphs, and the trials that they share."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from streamplace.learning.training.stages import StepReinforceStage
from streamplace.papers.orders.study.registered import CONTROL
from streamplace.papers.placeto.trials import Trial, run_trial
from streamplace.problem.problem import Problem
from streamplace.scoring.orders import traversal_order
from streamplace.util.arrays import Floats
from streamplace.util.text import counted

Pairs = Mapping[tuple[str, str], int]
"""Two orders, and the number of graphs on which they are the same."""


def coinciding(problems: Iterable[Problem], orders: Sequence[str]) -> Pairs:
    """Return how often two orders are the same, by pair, the most frequent pair first.

    Pairs that never coincide are left out, and so is the random order, which has no fixed one.
    """
    names = [name for name in orders if name != CONTROL]
    counts: Counter[tuple[str, str]] = Counter()
    for problem in problems:
        visited = {name: traversal_order(problem, name).tobytes() for name in names}
        counts.update((a, b) for a, b in combinations(names, 2) if visited[a] == visited[b])
    return dict(counts.most_common())


def sentence(where: str, pairs: Pairs, graphs: int) -> str:
    """Return a sentence about the orders that coincide on some graphs.

    It names the pairs that coincide on at least half of the graphs.

    Parameters
    ----------
    where
        What the graphs are, as the sentence begins.
    """
    often = {pair: count for pair, count in pairs.items() if 2 * count >= graphs}
    texts = [f"{a} and {b} coincide on {n} of {graphs} graphs" for (a, b), n in often.items()]
    rare = len(pairs) - len(often)
    if rare:
        noun = "other pair" if often else "pair"
        texts.append(f"{counted(rare, noun)} on fewer than half")
    return f"{where}: {'; '.join(texts) or 'no two orders coincide'}."


@dataclass(frozen=True)
class SharedTrials:
    """The trials of one problem so far.

    A trial is determined by its seed and by the operators in the order of its visits, whatever the
    order's name.

    Parameters
    ----------
    stage
        How to train.
    """

    stage: StepReinforceStage
    _known: dict[tuple[bool, int, bytes], Floats] = field(default_factory=dict, init=False)

    def run(self, trial: Trial) -> Floats:
        """Return the lowest loss after each sweep, (E,), of a trial of this problem."""
        visited = traversal_order(trial.problem, trial.order, trial.seed).tobytes()
        key = (trial.uniform, trial.seed, visited)
        if key not in self._known:
            self._known[key] = run_trial(trial, self.stage)
        return self._known[key]
