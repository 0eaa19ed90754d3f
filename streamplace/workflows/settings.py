"""The settings of `compare`."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from streamplace.execution.backends import LOCAL, Backend
from streamplace.problem.cluster import Cluster
from streamplace.problem.makespan import PublishedName
from streamplace.problem.objective import Model, Objective
from streamplace.util.settings import COUNT, SEED, SHARE, CheckedSettings, setting


@dataclass(frozen=True, kw_only=True)
class CompareSettings(CheckedSettings):
    """The settings of `compare`."""

    place: ClassVar[tuple[str, ...]] = ("compare",)
    cluster: Cluster | str | None = setting(
        None,
        None,
        "A cluster for all graphs, or text such as ``5x2500`` (five devices of 2500 MIPS).",
        unset="5x2500",
    )
    clusters: Iterable[Cluster] | None = setting(
        None, None, "Several clusters, instead of `cluster`: graph i is placed on cluster i."
    )
    cross: bool = setting(bool, False, "With `clusters`: place every graph on every cluster.")
    model: Model | None = setting(
        None, None, "Model of throughput; see `place`.", unset="bottleneck"
    )
    target_utilisation: float | None = setting(
        SHARE, None, "Highest utilisation of devices and links, above 0 and at most 1.", unset="1"
    )
    objective: Objective | None = setting(
        None,
        None,
        "Replaces model and target utilisation. Where `source_rates` is None, the objective's "
        "source rates, if it has any, replace those of the graphs.",
        unset="throughput",
    )
    semantics: PublishedName | None = setting(
        None,
        None,
        "With `Makespan`: the published system whose messages to simulate, on any cluster; see "
        "`problem.makespan`.",
    )
    dataset: str = setting(None, "", "Name of the dataset in the result.")
    seed: int = setting(SEED, 0, "Seed of the placers, and of the bootstrap intervals of ratios.")
    jobs: int | None = setting(
        COUNT,
        None,
        "Number of processes. Results do not depend on it.",
        unset="one per processor, if that saves time",
    )
    backend: Backend = setting(None, LOCAL, "Where the processes run. Results do not depend on it.")
