"""Trials of one problem, in which orders that coincide share a run."""

from dataclasses import dataclass, field

from streamplace.scoring.orders import traversal_order
from streamplace.training.stages import StepReinforceStage
from streamplace.training.trials import Trial, run_trial
from streamplace.util.arrays import Floats


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
