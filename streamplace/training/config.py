"""Training configuration: TOML files, checked before anything starts."""

import logging
import os
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from streamplace.errors import ConfigError, FormatError
from streamplace.files.reading import check, decode, name_of, read_bytes, read_json
from streamplace.files.toml import parse_toml
from streamplace.policy.config import StrictModel
from streamplace.policy.registry import PolicySection
from streamplace.problem.cluster import Cluster
from streamplace.problem.objective import Model
from streamplace.problem.objectives import make_objective
from streamplace.training.limits import (
    LARGEST_SEED,
    Count,
    CountOrNone,
    PositiveFloat,
    Seed,
    Share,
)
from streamplace.training.old_configs import OLD_TABLES, is_old, old_place, with_stages
from streamplace.training.stages import AnyStage, ImitationStage, as_value
from streamplace.util.suggest import valid_choices

MOST_THREADS = 256
FOLDER = Path(__file__).parent / "configs"
_log = logging.getLogger(__name__)


def _devices(text: str) -> str:
    return as_value(Cluster.parse, text)


def _objective(text: str) -> str:
    return as_value(partial(make_objective, from_file=True), text)


def _range(ends: list[int]) -> list[int]:
    if ends[0] > ends[1]:
        raise ValueError(f"no number is from {ends[0]} to {ends[1]}")
    return ends


class ProblemsSection(StrictModel):
    """The problems that the graphs of a dataset become."""

    operators: Annotated[list[Count], AfterValidator(_range)] = Field(
        [1, 10**6],
        min_length=2,
        max_length=2,
        description="the fewest and the most operators of a graph that is used",
    )
    share: Share = Field(1.0, description="the share of those graphs that is drawn")
    devices: list[Annotated[str, AfterValidator(_devices)]] = Field(
        ["5x2500"], min_length=1, description="clusters, of which each graph gets one by chance"
    )
    networks: list[Literal["pair", "nic"]] = Field(
        ["pair"], min_length=1, description="kinds of networks, likewise"
    )
    bandwidth_mbps: list[PositiveFloat] = Field(
        [1000.0], min_length=1, description="bandwidths of links, likewise"
    )
    source_rates: list[PositiveFloat] = Field(
        [], description="offered tuples/s: every graph at each of them; its own if empty"
    )
    model: Model = Field("bottleneck", description="how throughput follows from a placement")
    objective: Annotated[str, AfterValidator(_objective)] = Field(
        "throughput",
        description="the objective: throughput, or the name that an installed package registers",
    )


class RunSection(StrictModel):
    """Seed, checkpoints and validation."""

    seed: Seed = Field(0, description="the seed of all chance")
    checkpoint_every: Count = Field(100, description="steps from one checkpoint to the next")
    held_out: CountOrNone = Field(0, description="graphs kept for validation")
    half: bool = Field(False, description="write the policy's weights in 16 bits")
    threads: Annotated[int, Field(ge=0, le=MOST_THREADS)] = Field(
        0, description="threads of torch; 0: as many as there are processors"
    )


class TrainConfig(StrictModel):
    """A whole training run."""

    policy: PolicySection
    problems: list[ProblemsSection] = Field([ProblemsSection()], min_length=1)
    stage: list[AnyStage] = Field(min_length=1)
    run: RunSection = RunSection()

    @model_validator(mode="after")
    def _has_epochs(self) -> Self:
        if not self.epochs:
            raise ValueError("stage: no stage has an epoch")
        if not self.stage[-1].epochs:
            raise ValueError("stage: the last has no epoch, and no stage follows that could use it")
        return self

    @property
    def epochs(self) -> int:
        """The epochs of all stages."""
        return sum(stage.epochs for stage in self.stage)

    @property
    def teachers(self) -> list[str]:
        """The placers whose placements are imitated."""
        return [stage.teacher for stage in self.stage if isinstance(stage, ImitationStage)]


def with_seed(config: TrainConfig, seed: int) -> TrainConfig:
    """Return a config with another seed.

    Raises
    ------
    ConfigError
        If it is out of range.
    """
    if not 0 <= seed <= LARGEST_SEED:
        raise ConfigError(f"run.seed: must be 0 to 2^62 (got {seed})")
    return config.model_copy(update={"run": config.run.model_copy(update={"seed": seed})})


def config_names() -> list[str]:
    """Return the names of the shipped configs."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def read_config(name: str) -> TrainConfig:
    """Read a shipped config, a TOML file, or the ``config.json`` of a run.

    A config of streamplace 0.2 is read as stages, with a warning.

    Raises
    ------
    FormatError
        If a value is wrong; the message names its place.
    ConfigError
        If there is no such config, or it is not TOML.
    """
    known = config_names()
    path = FOLDER / f"{name}.toml" if name in known else Path(name)
    if path.suffix not in (".toml", ".json") and not os.path.exists(path):
        message = f"no config is called {name!r:.80}"
        raise ConfigError(message + valid_choices(name, known, "or a .toml file"))
    where = name_of(path)
    if path.suffix == ".json":
        return _checked(read_json(path), where)
    try:
        value = parse_toml(decode(read_bytes(path), where))
    except ValueError as error:
        raise ConfigError(f"{where}: {error}") from None
    return _checked(value, where)


def _checked(value: Any, where: str) -> TrainConfig:
    """Return a config from a JSON value, with stages in place of the tables of 0.2."""
    if not isinstance(value, dict) or not is_old(value):
        return check(TrainConfig, value, where)
    tables = ", ".join(f"[{name}]" for name in OLD_TABLES if name in value)
    try:
        present = with_stages(value)
        config = check(TrainConfig, present, where, partial(old_place, config=present))
    except FormatError as error:
        raise FormatError(f"{error}; write {tables} as [[stage]]: see `best`") from None
    _log.warning("%s: %s read as [[stage]], the form since 0.3", where, tables)
    return config
