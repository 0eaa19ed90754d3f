"""Training configuration: TOML files, checked before anything starts."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from streamplace.errors import ConfigError, StreamplaceError
from streamplace.files.reading import check, decode, name_of, read_bytes, read_json
from streamplace.files.toml import parse_toml
from streamplace.placers.registry import make_placer
from streamplace.policy.config import MOST_PLACEMENTS, Kind, StrictModel
from streamplace.problem.cluster import Cluster
from streamplace.problem.objective import Model
from streamplace.util.suggest import valid_choices

LARGEST_SEED = 2**62
MOST = 2**53  # of whatever is counted
MOST_THREADS = 256
FOLDER = Path(__file__).parent / "configs"
Count = Annotated[int, Field(ge=1, le=MOST)]
SmallCount = Annotated[int, Field(ge=0, le=MOST)]
Placements = Annotated[int, Field(ge=0, le=MOST_PLACEMENTS)]
Share = Annotated[float, Field(ge=0, le=1)]
PositiveFloat = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NonNegativeFloat = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Rate = Annotated[float, Field(gt=0, le=1e30)]  # beyond lies what 32 bits do not hold
Seed = Annotated[int, Field(ge=0, le=LARGEST_SEED)]


def _devices(text: str) -> str:
    _as_value(Cluster.parse, text)
    return text


def _range(ends: list[int]) -> list[int]:
    if ends[0] > ends[1]:
        raise ValueError(f"no number is from {ends[0]} to {ends[1]}")
    return ends


def _placer(text: str) -> str:
    if text:
        _as_value(partial(make_placer, from_file=True), text)
    return text


def _as_value(read: Callable[[str], object], text: str) -> None:
    try:
        read(text)
    except StreamplaceError as error:
        raise ValueError(str(error)) from None


class ProblemsSection(StrictModel):
    """What problems the graphs of the dataset become."""

    operators: Annotated[list[Count], AfterValidator(_range)] = Field(
        [1, 10**6], min_length=2, max_length=2, description="graphs of so many, least and most"
    )
    share: Share = Field(1.0, description="of those graphs, drawn")
    devices: list[Annotated[str, AfterValidator(_devices)]] = Field(
        ["5x2500"], min_length=1, description="clusters, drawn from"
    )
    networks: list[Literal["pair", "nic"]] = Field(["pair"], min_length=1, description="drawn from")
    bandwidth_mbps: list[PositiveFloat] = Field([1000.0], min_length=1, description="drawn from")
    source_rates: list[PositiveFloat] = Field(
        [], description="every graph at each; its own if empty"
    )
    model: Model = "bottleneck"


class SamplingSection(StrictModel):
    """What one step looks at, and how it is rewarded."""

    epochs: Count
    problems_per_step: Count = 1
    scores_per_step: SmallCount = Field(
        0, description="operators x devices a step at most, where problems are large; 0: no limit"
    )
    samples: Annotated[Placements, Field(ge=1)] = Field(
        3, description="on-policy placements of each problem"
    )
    random_samples: Annotated[float, Field(ge=0, le=MOST_PLACEMENTS)] = Field(
        0.0, description="random ones beside them, at first"
    )
    random_decay: PositiveFloat = Field(
        1.0, description="epochs in which their number falls to 1/e"
    )
    random_if_empty: Placements = Field(
        0, description="more while the memory of a problem is empty"
    )
    reward: Literal["relative", "log"] = Field(
        "relative", description="relative throughput, or log(throughput / bound)"
    )


class MemorySection(StrictModel):
    """The best placements seen of every problem."""

    size: Placements = Field(3, description="kept of each problem")
    threshold: float = Field(
        0.8, allow_inf_nan=False, description="reward from which a placement is kept"
    )
    samples: Placements = Field(3, description="learned from beside the on-policy ones")
    only_better: bool = Field(
        False, description="placements it has not sampled now never count against their mean"
    )
    imitate: NonNegativeFloat = Field(0.0, description="weight of the best one's log-likelihood")


class TeacherSection(StrictModel):
    """Imitation before reinforcement."""

    placer: Annotated[str, AfterValidator(_placer)] = Field(
        "", description="whose placements; none if empty"
    )
    epochs: SmallCount = 0


class OptimiserSection(StrictModel):
    """Adam."""

    rate: Rate = 1e-3
    final_rate: Rate | None = Field(
        None, description="at the end, falling like a cosine; the same if not told"
    )
    warm_up: SmallCount = Field(0, description="steps")
    largest_gradient: NonNegativeFloat = Field(0.0, description="norm to clip at; 0 does not")
    normalise: bool = Field(False, description="advantages by their standard deviation")
    entropy: NonNegativeFloat = Field(0.0, description="weight of the decisions' entropy")
    per_decision: bool = Field(False, description="gradients are means over decisions")


class RunSection(StrictModel):
    """How the run is kept."""

    seed: Seed = 0
    checkpoint_every: Count = Field(100, description="steps")
    held_out: SmallCount = Field(0, description="graphs kept for validation")
    half: bool = Field(False, description="write the policy's weights in 16 bits")
    threads: Annotated[int, Field(ge=0, le=MOST_THREADS)] = Field(
        0, description="of torch; 0: as many as processors"
    )


class TrainConfig(StrictModel):
    """A whole training run."""

    policy: Kind
    problems: list[ProblemsSection] = Field([ProblemsSection()], min_length=1)
    sampling: SamplingSection
    memory: MemorySection = MemorySection()
    teacher: TeacherSection = TeacherSection()
    optimiser: OptimiserSection = OptimiserSection()
    run: RunSection = RunSection()

    @model_validator(mode="after")
    def _can_imitate(self) -> Self:
        if self.teacher.epochs and not self.teacher.placer:
            raise ValueError("teacher.epochs: there is no teacher.placer")
        if self.teacher.placer and not self.memory.size:
            raise ValueError("teacher.placer: there is no memory.size for what it places")
        return self

    @model_validator(mode="after")
    def _can_learn(self) -> Self:
        if self.memory.imitate and not (self.memory.size and self.memory.samples):
            raise ValueError(
                "memory.imitate: there is no memory.size, or no memory.samples, for it"
            )
        others = min(self.memory.size, self.memory.samples) + self.sampling.random_samples
        if self.sampling.samples + others + self.sampling.random_if_empty <= 1:
            raise ValueError("sampling.samples: one placement alone is no better than its mean")
        return self


def with_seed(config: TrainConfig, seed: int) -> TrainConfig:
    """Return a config with another seed.

    Raises
    ------
    ConfigError
        If it is none.
    """
    if not 0 <= seed <= LARGEST_SEED:
        raise ConfigError(f"run.seed: must be 0 to 2^62 (got {seed})")
    return config.model_copy(update={"run": config.run.model_copy(update={"seed": seed})})


def config_names() -> list[str]:
    """Return the configs that are shipped."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def read_config(name: str) -> TrainConfig:
    """Read a config that is shipped, a TOML file, or the ``config.json`` of a run.

    Raises
    ------
    FormatError
        If it is not as it should be.
    ConfigError
        If there is no such thing.
    """
    known = config_names()
    path = FOLDER / f"{name}.toml" if name in known else Path(name)
    if path.suffix not in (".toml", ".json") and not os.path.exists(path):
        message = f"no config is called {name!r:.80}"
        raise ConfigError(message + valid_choices(name, known, "or a .toml file"))
    where = name_of(path)
    if path.suffix == ".json":
        return check(TrainConfig, read_json(path), where)
    try:
        value = parse_toml(decode(read_bytes(path), where))
    except ValueError as error:
        raise ConfigError(f"{where}: {error}") from None
    return check(TrainConfig, value, where)
