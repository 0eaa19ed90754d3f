"""The registered plan of the study, fixed before it was run, and the figures of the paper."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from streamplace.papers.doppler.study.workloads import GRAPHS

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
UNIFORM = "uniformly random sweeps"
"""The control of Placeto: as many sweeps, in which each device is drawn uniformly at random."""
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

PUBLISHED_DEVICES = 4
"""Number of devices in most experiments, among them the transfers."""

HEADS = {
    4: "published, ms on P100s (Doppler-SIM)",
    8: "published, ms on V100s (Doppler-SYS)",
}
"""Number of devices -> head of the column. Doppler-SIM stops before the stage of measured times."""

OF_ABLATIONS = "; the published figures of SEL only and PLC only are of Doppler-SYS"

MEMORY_HEAD = "published, ms on P100s (Doppler-SYS)"

TRANSFER = {
    ("ffnn", "transformer-block"): (251.0, 165.3, 159.4),
    ("chain-mm", "transformer-block"): (242.3, 184.9, 174.0),
    ("ffnn", "transformer-layer"): (206.1, 158.2, 155.8),
    ("chain-mm", "transformer-layer"): (338.2, 164.4, 156.4),
}
"""Trained on, placed -> milliseconds without episodes on the target, after 2,000 and 4,000."""

BARRIER = {"chain-mm": (139.0, 185.3), "ffnn": (50.2, 76.9)}
"""Table 1: EnumerativeOptimizer without and with a barrier between levels."""


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
    most_seeds
        Those of DOPPLER on released graphs with the first number of devices: an interval on a
        single graph needs five. They were added to the plan last.
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
    most_seeds: int = 5
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
    most_seeds=1,
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


def _of_each(*values: float) -> dict[str, float]:
    return dict(zip(GRAPHS, values, strict=True))


TABLE_2 = {
    "one device": _of_each(439.9, 148.5, 462.8, 483.2),
    "critical path, best of 50": _of_each(230.4, 217.8, 230.9, 292.6),
    "Placeto": _of_each(137.1, 126.3, 411.5, 295.1),
    "Placeto, pre-trained": {"ffnn": 99.0},
    "EnumerativeOptimizer": _of_each(139.0, 50.2, 172.7, 174.8),
    "DOPPLER": _of_each(122.5, 49.9, 191.5, 167.0),
    "SEL only": _of_each(127.0, 59.1, 175.6, 161.7),
    "PLC only": _of_each(121.6, 63.2, 172.9, 159.5),
    "messages at every step": {"chain-mm": 121.7},
}
"""The last three rows are the paper's ablations (Table 6 for messages at every step).

``DOPPLER`` is Doppler-SIM, and ``SEL only`` and ``PLC only`` are variants of Doppler-SYS."""

EIGHT_GPUS = {
    "critical path, best of 50": _of_each(69.6, 50.0, 117.6, 105.4),
    "EnumerativeOptimizer": _of_each(33.5, 20.0, 109.6, 97.5),
    "DOPPLER": _of_each(32.1, 16.2, 109.7, 90.6),
}


BY_DEVICES = {4: TABLE_2, 8: EIGHT_GPUS}
"""Number of devices -> system -> workload -> milliseconds."""


MEMORY = {
    "EnumerativeOptimizer": _of_each(133.5, 49.2, 233.8, 172.8),
    "DOPPLER": _of_each(122.6, 46.0, 190.2, 154.0),
}
"""Devices of which 8 GB may be used."""
