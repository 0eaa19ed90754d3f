"""The registered plan of the study: sizes and systems, fixed before it was run."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from streamplace.studies.doppler.workloads import GRAPHS

DOPPLER = "DOPPLER"
RELEASED_CODE = "DOPPLER, settings of the released code"
SEL_ONLY, PLC_ONLY = "SEL only", "PLC only"
WITHOUT_IMITATION = "without imitation"
OF_SEARCH = "imitation of search"
EVERY_STEP = "messages at every step"
IMITATION_ONLY = "imitation only"
"""It is read from the results of DOPPLER, before their first simulated episode."""
EPSILON_GREEDY = "ε-greedy choices"
PLACETO, PRETRAINED = "Placeto", "Placeto, pre-trained"
PUBLISHED_SETTINGS = "DOPPLER, settings of the paper"
PLACETO_LONGER = "Placeto, 4,000 sweeps"
STAGED: Mapping[str, tuple[int, ...]] = {
    f"stages {' and '.join(map(str, numbers))}": numbers
    for numbers in ((1,), (2,), (3,), (1, 2), (1, 3), (2, 3), (1, 2, 3))
}
"""Combinations of DOPPLER's three stages (Figure 3) -> the numbers of the stages."""

SIZES: Mapping[str, Mapping[str, Any]] = {
    DOPPLER: {},
    RELEASED_CODE: {},
    SEL_ONLY: {"variant": "sel-only"},
    PLC_ONLY: {"variant": "plc-only"},
    WITHOUT_IMITATION: {},
    OF_SEARCH: {},
    EPSILON_GREEDY: {},
    EVERY_STEP: {"per_step": True},
}
"""The sizes of the policy of each system of the kind ``doppler``."""
SYSTEMS = (*SIZES, PLACETO, PRETRAINED)
FURTHER = (*STAGED, PLACETO_LONGER, PUBLISHED_SETTINGS)
"""Systems that were added to the plan later."""
ONLY_ON: Mapping[str, tuple[str, ...]] = {
    EVERY_STEP: ("chain-mm",),
    **dict.fromkeys(STAGED, ("chain-mm", "transformer-block")),
    **dict.fromkeys((PUBLISHED_SETTINGS, PLACETO_LONGER), ("chain-mm", "ffnn")),
}
"""Systems that are trained on some graphs only, because they take long."""


@dataclass(frozen=True)
class Registered:
    """The size of the study.

    Parameters
    ----------
    graphs
        Our families.
    devices
        Numbers of devices; everything but DOPPLER and the plain placers runs on the first only.
    seeds
        Training seeds of every policy.
    imitation_epochs, imitation_samples
        Updates of the first stage, and episodes of each.
    search_epochs
        Updates of the imitation of search, with one placement each.
    simulation_epochs, simulation_samples
        Updates of the second stage, and episodes of each.
    larger_samples
        Episodes of an update of the second stage on more devices than the first number, where
        graphs have four times as many operators and an episode takes fifteen times as long.
    released_imitation_epochs, released_simulation_epochs
        Updates with the settings of the released code, with eight episodes each.
    every_step_epochs
        Updates of the second stage with messages at every step; an episode takes some 25 times as
        long.
    transfer_epochs
        Updates of the second stage on another workload.
    paper_imitation_epochs, paper_simulation_epochs
        Updates with the settings of the paper, of one episode each: together 8,000 episodes,
        divided as in the released code, whose third stage is simulated here.
    longer_sweeps
        Sweeps of Placeto with the settings that the paper states for it.
    measurements
        Measured placements of the third stage, in combinations of stages.
    every
        Simulated episodes between two checkpoints.
    repeats
        Runs of a placer with random choices.
    longer
        Factor of the evaluations of the search that stands for the best known.
    """

    graphs: tuple[str, ...] = GRAPHS
    devices: tuple[int, ...] = (4, 8)
    seeds: int = 3
    imitation_epochs: int = 30
    imitation_samples: int = 8
    search_epochs: int = 150
    simulation_epochs: int = 125
    simulation_samples: int = 32
    larger_samples: int = 8
    released_imitation_epochs: int = 250
    released_simulation_epochs: int = 500
    every_step_epochs: int = 32
    transfer_epochs: int = 62
    paper_imitation_epochs: int = 2000
    paper_simulation_epochs: int = 6000
    longer_sweeps: int = 4000
    measurements: int = 300
    every: int = 1000
    repeats: int = 20
    longer: int = 100

    def samples(self, devices: int) -> int:
        """Return the episodes of an update of the second stage on a number of devices."""
        return self.simulation_samples if devices == self.devices[0] else self.larger_samples

    def evaluations(self, devices: int) -> int:
        """Return the simulated episodes of a training on a number of devices.

        Climb, search and Placeto have as many evaluations.
        """
        return self.simulation_epochs * self.samples(devices)

    def settings(self) -> dict[str, Any]:
        """Return the plan as JSON values."""
        evaluations = [self.evaluations(count) for count in self.devices]
        systems = [*SYSTEMS, *FURTHER]
        return {**asdict(self), "evaluations": evaluations, "systems": systems}


FULL = Registered()
QUICK = Registered(
    graphs=("chain-mm",),
    devices=(2,),
    seeds=1,
    imitation_epochs=4,
    search_epochs=4,
    simulation_epochs=4,
    released_imitation_epochs=4,
    released_simulation_epochs=4,
    every_step_epochs=2,
    transfer_epochs=2,
    paper_imitation_epochs=4,
    paper_simulation_epochs=4,
    longer_sweeps=4,
    measurements=8,
    every=64,
    repeats=3,
)
