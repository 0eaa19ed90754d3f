"""The registered plan of the study: sizes and trained systems, fixed before it was run."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from streamplace.studies.hsdag.workloads import NETWORKS, RATIO_SCALES

CPU_ONLY, ACCELERATOR_ONLY = "CPU only", "accelerator only"
HSDAG, PLACETO, RNN = "HSDAG", "Placeto", "RNN"
NO_SIZE, NO_POSITION, NO_STRUCTURE = "without sizes", "without positions", "without structure"


def _of_each(inception: float, resnet: float, bert: float | None) -> dict[str, float | None]:
    return {"inception-v3": inception, "resnet50": resnet, "bert-base": bert}


MILLISECONDS: Mapping[str, Mapping[str, float | None]] = {
    CPU_ONLY: _of_each(12.8, 16.0, 6.38),
    ACCELERATOR_ONLY: _of_each(12.0, 7.81, 2.77),
    "OpenVINO, CPU first": _of_each(12.8, 23.4, 6.57),
    "OpenVINO, accelerator first": _of_each(13.8, 8.76, 2.84),
    PLACETO: _of_each(11.6, 9.32, 6.51),
    RNN: _of_each(12.8, 8.75, None),
    HSDAG: _of_each(10.5, 7.66, 2.67),
}
"""Table 2: system -> network -> latency in ms; the RNN had too little memory for BERT-base."""

ABLATION: Mapping[str, Mapping[str, float | None]] = {
    HSDAG: _of_each(17.9, 52.1, 58.2),
    NO_SIZE: _of_each(8.59, 52.0, 56.4),
    NO_POSITION: _of_each(8.59, 52.0, 56.4),
    NO_STRUCTURE: _of_each(14.8, 52.1, 58.2),
}
"""Variant -> network -> the share in percent by which the latency is below that of the CPU."""

SEARCH_S: Mapping[str, Mapping[str, float | None]] = {
    HSDAG: _of_each(2454.0, 1047.0, 2765.0),
    PLACETO: _of_each(2808.0, 1162.0, 4512.0),
    RNN: _of_each(3706.0, 1212.0, None),
}
"""Seconds of search, measurements of latencies included."""


def below_cpu(system: str, network: str) -> float | None:
    """Return the published share in percent by which a latency is below that of the CPU."""
    own = MILLISECONDS.get(system, {}).get(network)
    cpu = MILLISECONDS[CPU_ONLY].get(network)
    return None if own is None or cpu is None else 100.0 * (1.0 - own / cpu)


METIS_GROUPS, HEAVY_GROUPS = "METIS groups", "heavy-edge groups"
LONGER = "ten times the episodes"
FACTOR = 10  # of the episodes of that variant
FEATURES = ("type", "size", "degree", "fractal", "position", "cost")


@dataclass(frozen=True)
class Variant:
    """How a policy differs from HSDAG as the placer `hsdag` trains it.

    Parameters
    ----------
    sizes
        Other sizes of the policy, by name; see `policy.config.HsdagSizes`.
    stage
        Other keys of the training stage; see `training.stages.StepReinforceStage`.
    options
        Other options of the placer.
    """

    sizes: Mapping[str, Any] = field(default_factory=dict)
    stage: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, float] = field(default_factory=dict)


def _without(*features: str) -> Variant:
    return Variant({"features": [name for name in FEATURES if name not in features]})


RELEASED_RETURNS = {"returns": "episode", "step_reward": "ratio", "baseline": "none"}
UNTRAINED = "without learning"
ABLATIONS: Mapping[str, Variant] = {
    NO_SIZE: _without("size"),
    NO_POSITION: _without("position"),
    NO_STRUCTURE: _without("degree", "fractal"),
    "without costs": _without("cost"),
    "without chains": Variant({"chains": False}),
    "32 groups or more": Variant({"min_groups": 32}),
    "two levels": Variant(options={"levels": 2}),
    "features that stay": Variant({"updates": False}),
    "released weighting": Variant(stage=RELEASED_RETURNS),
    "pooling by sums": Variant({"pooling": "sum"}),
    "published learning rate": Variant(options={"rate": 1e-4}),
    # steps of Adam at this rate are lost in rounding
    UNTRAINED: Variant(options={"rate": 1e-20}),
    LONGER: Variant(),
}
"""Variants of HSDAG that are trained on the networks with the registered ratios."""


@dataclass(frozen=True)
class Registered:
    """The size of the study.

    Parameters
    ----------
    networks, ratio_scales
        Our networks, and the factors of the ratios between their devices.
    ablations
        Names of variants, see `ABLATIONS`.
    seeds
        Training seeds of HSDAG and of the same policy with other groups, and repeats of placers
        with random choices.
    other_seeds
        Training seeds of Placeto and of the RNN placer, which takes minutes.
    episodes, samples, steps
        Updates of a training, the episodes of each, and their steps: 100 episodes of 20 steps.
    rnn_samples
        Placements of an update of the RNN placer.
    longest
        Operators up to which Placeto and the RNN placer are trained on released graphs.
    longer
        Factor of the evaluations of the search that stands for the best known.
    """

    networks: tuple[str, ...] = NETWORKS
    ratio_scales: tuple[float, ...] = RATIO_SCALES
    ablations: tuple[str, ...] = tuple(ABLATIONS)
    seeds: int = 5
    other_seeds: int = 2
    episodes: int = 25
    samples: int = 4
    steps: int = 20
    rnn_samples: int = 20
    longest: int = 400
    longer: int = 100

    @property
    def evaluations(self) -> int:
        """The evaluations of a training of HSDAG, which all other systems make, too."""
        return self.episodes * self.samples * (self.steps + 1)

    def settings(self) -> dict[str, Any]:
        """Return the plan as JSON values."""
        return {**asdict(self), "evaluations": self.evaluations}


FULL = Registered()
QUICK = Registered(
    networks=("resnet50",),
    ratio_scales=(1.0,),
    ablations=(NO_STRUCTURE, UNTRAINED),
    seeds=2,
    other_seeds=1,
    episodes=3,
    samples=2,
    steps=10,
)
"""A small share of the plan."""
