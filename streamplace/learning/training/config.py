"""Training configuration: TOML files that are checked before training starts."""

import logging
import os
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeAlias, Union

from pydantic import AfterValidator, Field, ValidationError, model_validator

from streamplace.errors import ConfigError, Fault, FormatError
from streamplace.files.own import CONFIG, kind_of
from streamplace.files.reading import check, name_of, read_json, read_text
from streamplace.files.schema_fields import Place
from streamplace.files.toml import parse_toml
from streamplace.learning.policy.config import StrictModel
from streamplace.learning.policy.registry import PolicySection, policy_kind
from streamplace.learning.training.measuring.measure import check_name
from streamplace.learning.training.stages import (
    LARGEST_SEED,
    Count,
    CountOrZero,
    ImitationStage,
    PositiveFloat,
    Seed,
    Share,
    Stage,
    StepReinforceStage,
    as_value,
    forms,
    measured_stages,
)
from streamplace.problem.cluster import Cluster
from streamplace.problem.makespan import PUBLISHED
from streamplace.problem.objective import Model, Objective
from streamplace.problem.objectives import make_objective
from streamplace.util.entry_points import config_files
from streamplace.util.suggest import NEAR, candidates, did_you_mean, near_file, valid_choices
from streamplace.util.text import counted

CURRENT_TABLES = {
    "sampling": "[[stage]]",
    "memory": "[stage.memory]",
    "teacher": "[[stage]]",
    "optimiser": "[stage.optimiser]",
}
"""The tables of streamplace 0.2, and the tables that have their settings now."""
OLD_TABLES = tuple(CURRENT_TABLES)
MAX_THREADS = 256
_OF_BOTH = ("problems_per_step", "scores_per_step", "reward")
_OF_LOSS = ("normalise", "entropy", "per_decision")
_TABLES = {"reinforce": "sampling", "imitation": "teacher"}

_OLD_PLACES: dict[tuple[str, str], Place] = {
    **{(algorithm, "optimiser"): ("optimiser",) for algorithm in _TABLES},
    **{("imitation", name): ("sampling", name) for name in _OF_BOTH},
    **{("reinforce", name): ("optimiser", name) for name in _OF_LOSS},
    ("reinforce", "memory"): ("memory",),
    ("imitation", "teacher"): ("teacher", "placer"),
}
"""Settings of stages that were in a table other than the one in _TABLES, or had another name."""

_log = logging.getLogger(__name__)

if TYPE_CHECKING:
    AnyStage: TypeAlias = Stage
else:
    AnyStage = Annotated[Union[tuple(forms().values())], Field(discriminator="algorithm")]  # noqa: UP007 - of a tuple
"""A stage of any algorithm, also of those that packages register."""


def is_old(config: dict[str, Any]) -> bool:
    """Return whether a config has tables of streamplace 0.2 and no stage."""
    return "stage" not in config and any(name in config for name in OLD_TABLES)


def with_stages(config: dict[str, Any]) -> dict[str, Any]:
    """Return a config of streamplace 0.2 with its four tables as one stage, or two with a teacher.

    Values are moved but not checked; if one of the four is not a table, the config is returned
    unchanged and refused later.
    """
    if not is_old(config) or not all(isinstance(config.get(t, {}), dict) for t in OLD_TABLES):
        return config
    sampling, memory, teacher, optimiser = (dict(config.get(t, {})) for t in OLD_TABLES)
    memory.setdefault("threshold", 0.8)  # for both kinds of reward
    loss = {name: optimiser.pop(name) for name in _OF_LOSS if name in optimiser}
    reinforce: dict[str, Any] = {"algorithm": "reinforce", **sampling, **loss, "memory": memory}
    stages = [reinforce]
    if any(teacher.values()) or teacher.keys() - {"placer", "epochs"}:
        shared = {name: sampling[name] for name in _OF_BOTH if name in sampling}
        imitation = {"algorithm": "imitation", **shared, "epochs": teacher.pop("epochs", 0)}
        if placer := teacher.pop("placer", ""):  # otherwise refused later as missing
            imitation["teacher"] = placer
        stages.insert(0, imitation | teacher)
    stages[0]["optimiser"] = optimiser
    kept = {name: value for name, value in config.items() if name not in OLD_TABLES}
    return {**kept, "stage": stages}


def with_own_algorithms(config: dict[str, Any], where: str = "") -> dict[str, Any]:
    """Return a config of streamplace 0.4 whose stages have the algorithms that have their keys now.

    Keys that an algorithm no longer has are left out where they are at their defaults. Otherwise
    the stage gets the algorithm that derives from its own and has them. Other faults stay, for the
    check of the whole config.

    Parameters
    ----------
    where
        The file, for a warning about other algorithms; empty: there is none.

    Raises
    ------
    FormatError
        If a stage has keys of several of these algorithms.
    """
    stages = config.get("stage")
    if not isinstance(stages, list):
        return config
    made = []
    for number, before in enumerate(stages):
        now = _with_own_algorithm(before, Fault(origin=where, place=(f"stage[{number}]",)))
        made.append(now)
        if where and before is not now and before["algorithm"] != now["algorithm"]:
            changed = f"{now['algorithm']!r}, to which its keys belong now"
            _log.warning("%s: stage[%d]: the algorithm is %s", where, number, changed)
    return {**config, "stage": made}


def _with_own_algorithm(stage: Any, at: Fault) -> Any:
    form = forms().get(str(stage.get("algorithm"))) if isinstance(stage, dict) else None
    if form is None:
        return stage
    derived = {
        name: one for name, one in forms().items() if one is not form and issubclass(one, form)
    }
    fields = {key: field for one in derived.values() for key, field in one.model_fields.items()}
    moved = fields.keys() - form.model_fields.keys()
    kept = {k: v for k, v in stage.items() if k not in moved or v != fields[k].default}
    own = stage["algorithm"]
    faults = {
        name: _faulty_keys(one, kept | {"algorithm": name})
        for name, one in {own: form, **derived}.items()
    }
    best = min(faults, key=lambda name: (sum(faults[name].values()), len(faults[name])))
    owners = {key: best for key in faults[own] if key not in faults[best]}
    others = {
        key: name for key in faults[best] for name, known in faults.items() if key not in known
    }
    if others:
        shown = [f"{key!r} of {name!r}" for key, name in (owners | others).items()]
        fault = f"has settings of several algorithms: {', '.join(shown)}"
        raise FormatError(replace(at, what=fault, remedy="keep those of one"))
    return kept | {"algorithm": best}


def _faulty_keys(form: type[Stage], keys: Mapping[str, Any]) -> dict[str, bool]:
    """Return the keys whose values a form refuses, and whether it has no such key."""
    try:
        form.model_validate(keys)
    except ValidationError as error:
        found = [each for each in error.errors(include_url=False) if each["loc"]]
        return {str(each["loc"][0]): each["type"] == "extra_forbidden" for each in found}
    return {}


def old_place(place: Place, config: dict[str, Any]) -> Place:
    """Return the place in a config of streamplace 0.2 for a place in the converted config.

    Parameters
    ----------
    config
        The converted config.
    """
    match place:
        case ("stage", int(number), str(name), *rest):
            algorithm = config["stage"][number]["algorithm"]
            return (*_OLD_PLACES.get((algorithm, name), (_TABLES[algorithm], name)), *rest)
        case ("stage", int(_)):
            return ()  # concerns several settings, which the message names
    return place


def _devices(text: str) -> str:
    return as_value(Cluster.parse, text)


def _objective(text: str) -> str:
    return as_value(partial(make_objective, from_file=True), text)


def _semantics(text: str) -> str:
    if text not in PUBLISHED:
        raise ValueError(f"unknown {text!r:.40}{valid_choices(text, PUBLISHED)}")
    return text


def _measure(text: str) -> str:
    return as_value(check_name, text)


def _range(ends: list[int]) -> list[int]:
    if ends[0] > ends[1]:
        raise ValueError(f"the minimum, {ends[0]}, is larger than the maximum, {ends[1]}")
    return ends


class ProblemsSection(StrictModel):
    """A group of training problems made from the graphs of a dataset."""

    operators: Annotated[list[Count], AfterValidator(_range)] = Field(
        [1, 10**6],
        min_length=2,
        max_length=2,
        description="smallest and largest number of operators of the graphs to use",
    )
    share: Share = Field(1.0, description="share of these graphs to use, drawn at random")
    devices: list[Annotated[str, AfterValidator(_devices)]] = Field(
        ["5x2500"], min_length=1, description="clusters; each graph gets one, drawn at random"
    )
    networks: list[Literal["pair", "nic", "egress"]] = Field(
        ["pair"], min_length=1, description="kinds of network, drawn in the same way"
    )
    bandwidth_mbps: list[PositiveFloat] = Field(
        [1000.0], min_length=1, description="bandwidths of links in Mbit/s, drawn in the same way"
    )
    source_rates: list[PositiveFloat] = Field(
        [],
        description="source rates in tuples/s; each graph makes one problem per rate; if empty, "
        "the graph's own rate",
    )
    model: Model = Field("bottleneck", description="throughput model")
    objective: Annotated[str, AfterValidator(_objective)] = Field(
        "throughput",
        description="`throughput`, `makespan` or `total-cost` with options "
        "(`makespan:order=b-level`), or the name of an objective that an installed package "
        "registers",
    )
    semantics: Annotated[str, AfterValidator(_semantics)] | None = Field(
        None,
        description="the published system whose messages and start-up delays makespans follow; if "
        "absent, the cluster's own",
    )

    @model_validator(mode="after")
    def _semantics_of_makespans(self) -> Self:
        if self.semantics and self.made_objective.has_rates:
            raise ValueError("semantics: requires objective = 'makespan'")
        return self

    @property
    def made_objective(self) -> Objective:
        """The objective that the key `objective` describes."""
        return make_objective(self.objective, from_file=True)


class RunSection(StrictModel):
    """Seed, checkpoints and validation."""

    seed: Seed = Field(0, description="seed of all random choices")
    checkpoint_every: Count = Field(100, description="steps between checkpoints")
    held_out: CountOrZero = Field(0, description="number of graphs held out for validation")
    half: bool = Field(False, description="write the policy's weights as 16-bit floats")
    threads: Annotated[int, Field(ge=0, le=MAX_THREADS)] = Field(
        1, description="threads of torch; 0: one per CPU"
    )
    weights: Annotated[str, Field(min_length=1)] | None = Field(
        None,
        description="weights file whose parameters training starts from (`streamplace train "
        "--from`); if absent, random ones",
    )
    measure: Annotated[str, AfterValidator(_measure)] | None = Field(
        None,
        description="what measures running times for stages with `measurements`: a name that an "
        "installed package registers; `streamplace train --measure` takes any other",
    )


class TrainConfig(StrictModel):
    """The configuration of a training run."""

    policy: PolicySection
    problems: list[ProblemsSection] = Field([ProblemsSection()], min_length=1)
    stage: list[AnyStage] = Field(min_length=1)
    run: RunSection = RunSection()

    @model_validator(mode="after")
    def _has_epochs(self) -> Self:
        if not self.epochs:
            raise ValueError("stage: at least one stage must have epochs")
        if not self.stage[-1].epochs:
            raise ValueError("stage: the last stage must have at least 1 epoch")
        return self

    @model_validator(mode="after")
    def _suits_the_policy(self) -> Self:
        kind = policy_kind(self.policy.kind)
        for number, stage in enumerate(self.stage):
            if kind.imitates and isinstance(stage, ImitationStage):
                continue
            if kind.refines != isinstance(stage, StepReinforceStage):
                does = "refines" if kind.refines else "builds"
                suited = [
                    name
                    for name, form in forms().items()
                    if kind.refines == issubclass(form, StepReinforceStage)
                    or (kind.imitates and issubclass(form, ImitationStage))
                ]
                raise ValueError(
                    f"stage[{number}].algorithm: {stage.algorithm!r} is not for policy "
                    f"{self.policy.kind!r}, which {does} placements"
                    f"{valid_choices(stage.algorithm, suited)}"
                )
        return self

    @model_validator(mode="after")
    def _suits_the_objectives(self) -> Self:
        for number, stage in enumerate(self.stage):
            for group, problems in enumerate(self.problems):
                if fault := stage.fault_under(problems.made_objective):
                    key, why, remedy = fault
                    got = f"problems[{group}].objective is {problems.objective!r}"
                    raise ValueError(f"stage[{number}].{key}: {why}, but {got}; {remedy}")
        return self

    @model_validator(mode="after")
    def _measures(self) -> Self:
        if self.run.measure is not None and not measured_stages(self.stage):
            raise ValueError("run.measure: no stage measures; set its key measurements")
        return self

    @property
    def epochs(self) -> int:
        """The total number of epochs of all stages."""
        return sum(stage.epochs for stage in self.stage)

    @property
    def teachers(self) -> list[str]:
        """The placers whose placements the imitation stages learn."""
        return [stage.teacher for stage in self.stage if isinstance(stage, ImitationStage)]

    @property
    def placers(self) -> dict[str, str]:
        """The placers that stages name, teachers and starts, by key such as ``stage[0].start``."""
        named: dict[str, str] = {}
        for number, stage in enumerate(self.stage):
            if isinstance(stage, ImitationStage):
                named[f"stage[{number}].teacher"] = stage.teacher
            if isinstance(stage, StepReinforceStage):
                named[f"stage[{number}].start"] = stage.start
        return named


def with_seed(config: TrainConfig, seed: int) -> TrainConfig:
    """Return a config with another seed.

    Raises
    ------
    ConfigError
        If the seed is out of range.
    """
    if not 0 <= seed <= LARGEST_SEED:
        raise ConfigError(f"run.seed: must be between 0 and 2^62 (got {seed})")
    return config.model_copy(update={"run": config.run.model_copy(update={"seed": seed})})


def with_values(config: TrainConfig, values: Mapping[str, Any]) -> TrainConfig:
    """Return a config with other values of some keys.

    Parameters
    ----------
    values
        Key -> value. A key names tables as error messages do, such as ``run.held_out`` or
        ``stage[0].optimiser.rate``.

    Raises
    ------
    ConfigError
        If there is no such key.
    FormatError
        If a value is wrong.
    """
    document = config.model_dump(mode="json")
    for key, value in values.items():
        _set(document, key, value)
    return check(TrainConfig, document, "config")


def steps_of(key: str) -> list[str | int]:
    """Return the names and list indices of a key, such as ``stage[0].epochs``.

    Raises
    ------
    ConfigError
        If it is no key.
    """
    steps: list[str | int] = []
    for part in key.split("."):
        name, *numbers = part.replace("]", "").split("[")
        if part != name + "".join(f"[{number}]" for number in numbers) or not all(
            number.isdecimal() for number in numbers
        ):
            raise ConfigError(f"{key}: is no key; write it as run.seed or stage[0].epochs")
        steps += [name, *map(int, numbers)]
    return steps


def _set(document: dict[str, Any], key: str, value: Any) -> None:
    """Set the value of a key; a table that is absent is made, and its keys are checked later."""
    steps = steps_of(key)
    node: Any = document
    for number, step in enumerate(steps):
        before = "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in steps[:number])[1:]
        _check_step(key, step, node, before)
        if number + 1 < len(steps):
            if node[step] is None:
                node[step] = {steps[number + 1]: None}
            node = node[step]
    node[steps[-1]] = value


def _check_step(key: str, step: str | int, node: Any, before: str) -> None:
    """Refuse a step of a key that a part of a config does not have."""
    if isinstance(step, int):
        if not isinstance(node, list):
            raise ConfigError(f"{key}: {before} is not a list")
        if step >= len(node):
            raise ConfigError(f"{key}: {before} has {counted(len(node), 'element')}, from [0]")
    elif isinstance(node, list):
        raise ConfigError(f"{key}: {before} is a list; choose an element, such as {before}[0]")
    elif not isinstance(node, dict):
        raise ConfigError(f"{key}: {before} has no keys")
    elif step not in node:
        raise ConfigError(f"{key}: unknown key {step!r:.80}{candidates(step, list(node))}")


def config_names() -> list[str]:
    """Return the names of the shipped configs."""
    return list(config_files())


def read_config(name: str) -> TrainConfig:
    """Read a shipped config, a TOML file, or the ``config.json`` of a run.

    Configs of earlier versions are converted, with a warning: tables of 0.2 to stages, and stages
    of 0.4 to the algorithms that have their keys now.

    Raises
    ------
    FormatError
        If a value is wrong; the message names the field.
    ConfigError
        If no such config exists, or it is not TOML.
    """
    known = config_files()
    path = known.get(name, Path(name))
    if not os.path.exists(path):
        message = f"{name}: no such file, and no config of streamplace has that name"
        close = did_you_mean(name, list(known), NEAR) or near_file(path)
        raise ConfigError(
            message + (close or valid_choices(path.stem, list(known), "or a .toml file"))
        )
    where = name_of(path)
    if path.suffix == ".json":
        return _check_config(read_json(path), where)
    try:
        value = parse_toml(read_text(path))
    except ValueError as error:
        raise ConfigError(f"{where}: {error}") from None
    _check_tables(value, where)
    return _check_config(value, where)


def _check_tables(value: dict[str, Any], where: str) -> None:
    """Refuse TOML tables with a wrong heading, and say which heading to write instead."""
    for name in ("problems", "stage"):
        if isinstance(value.get(name), dict):
            advice = f"must be a list of tables: write [[{name}]], not [{name}]"
            raise FormatError(f"{where}: {name}: {advice}")
    if "stage" not in value:
        if "stages" in value:
            raise FormatError(f"{where}: stages: write [[stage]], not [[stages]]")
        return
    if old := [name for name in OLD_TABLES if name in value]:
        tables = ", ".join(f"[{name}]" for name in old)
        current = " and ".join(dict.fromkeys(CURRENT_TABLES[name] for name in old))
        message = f"cannot combine {tables} with [[stage]]; move the settings to {current}"
        raise FormatError(f"{where}: {message}")
    _check_algorithms(value["stage"], where)


def _check_algorithms(stages: Any, where: str) -> None:
    """Refuse a misspelt ``algorithm``; pydantic only reports that it is missing."""
    for number, stage in enumerate(stages if isinstance(stages, list) else []):
        if isinstance(stage, dict) and "algorithm" not in stage:
            for name in stage:
                if hint := did_you_mean(name, ["algorithm"]):
                    raise FormatError(f"{where}: stage[{number}]: unknown field {name!r}{hint}")


def _check_config(value: Any, where: str) -> TrainConfig:
    """Return a checked config; those of earlier versions are converted."""
    if not isinstance(value, dict):
        return check(TrainConfig, value, where)
    if not is_old(value) or kind_of(value) not in (None, CONFIG):
        return check(TrainConfig, with_own_algorithms(value, where), where)
    tables = ", ".join(f"[{name}]" for name in OLD_TABLES if name in value)
    try:
        present = with_stages(value)
        config = check(TrainConfig, present, where, partial(old_place, config=present))
    except FormatError as error:
        error.advise(f"convert {tables} to [[stage]], as in the config 'best'")
        raise
    _log.warning("%s: converted %s to [[stage]], the format since 0.3", where, tables)
    return config
