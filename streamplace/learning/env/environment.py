"""The environment: an episode is a problem, a step is an operator, an action is a device."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from streamplace.errors import UsageError, within
from streamplace.families import Recipe
from streamplace.files import read_dataset
from streamplace.learning.env.episode import Episode
from streamplace.learning.env.observation import HIGHEST, Observed, size_of
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objective import Model, Throughput
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator
from streamplace.util.checks import check_int, check_type

DEFAULT = Recipe("series-parallel", 1000, sizes=range(6, 13))


class Generated(Sequence[StreamGraph]):
    """The graphs of a recipe, each generated when it is accessed."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe

    def __len__(self) -> int:
        return self._recipe.count

    def __getitem__(self, number: int) -> StreamGraph:  # type: ignore[override]  # no slices
        return self._recipe.graph(number)


def graphs_of(
    source: str | Path | Recipe | StreamGraph | Sequence[StreamGraph],
) -> Sequence[StreamGraph]:
    """Return a sequence of graphs: those of a dataset or a recipe, or the graphs themselves.

    Raises
    ------
    FormatError
        If a dataset cannot be read.
    UsageError
        If there are no graphs, or one of them is not a StreamGraph.
    """
    if isinstance(source, Recipe):
        return Generated(source)
    if isinstance(source, StreamGraph):
        return (source,)
    if isinstance(source, str | Path):
        return read_dataset(source)
    check_type("graphs:", source, Iterable, UsageError)
    graphs = tuple(source)
    if not graphs or not all(isinstance(graph, StreamGraph) for graph in graphs):
        raise UsageError("graphs: must be at least one StreamGraph")
    return graphs


class PlacementEnv(gymnasium.Env[Observed, np.int64]):
    """Place the operators of a graph, level by level, each on one of D devices.

    **Episode.** `reset` draws a graph with its seed; ``options={"graph": number}`` selects one.
    Operators come in the order of streamplace's policy: upstream first, by depth.

    **Action.** The device for the next operator, ``Discrete(D)``.

    **Mask.** `action_masks` (for sb3-contrib; also ``info["action_mask"]``) is true for devices
    that constraints, labels and limits allow after the operators placed so far. Among identical
    devices that run nothing, the mask offers only the first, since the others are equivalent;
    choosing one of the others is still allowed.

    **Observation.** ``Box(-16, 16, (26 + 29 D,), float32)``: see the
    module `observation`.

    **Reward.** 0 until the last operator is placed, then the relative throughput under the model,
    from 0 to 1. An episode ends at once, with reward 0 and the reason in ``info["infeasible"]``,
    when an action violates a constraint or leaves no device for the next operator. The mask looks
    only one operator ahead, so this can happen with limits of devices or operators that must be
    separated, even if every action respects the mask.

    Parameters
    ----------
    graphs
        The path of a dataset, a `Recipe` of generated graphs, or one or more graphs; by default a
        thousand series-parallel graphs of 6 to 12 operators.
    cluster
        A cluster, the same in every episode, or text such as ``5x2500`` (five devices of 2500
        MIPS), which is the default.
    source_rate, model, target_utilisation
        As for `place`; the source rate is in tuples/s, by default each graph's own.

    Raises
    ------
    StreamplaceError
        If the dataset or the cluster is invalid or, at a `reset`, the problem is.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - Gymnasium declares it so

    def __init__(
        self,
        graphs: str | Path | Recipe | StreamGraph | Sequence[StreamGraph] = DEFAULT,
        cluster: Cluster | str | None = None,
        *,
        source_rate: float | None = None,
        model: Model | None = None,
        target_utilisation: float | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.render_mode = render_mode
        self._graphs = graphs_of(graphs)
        self._cluster = Cluster.of(cluster)
        self._objective = Throughput.of(source_rate, model, target_utilisation)
        devices = len(self._cluster.devices)
        self.action_space = spaces.Discrete(devices)
        self.observation_space = spaces.Box(-HIGHEST, HIGHEST, (size_of(devices),), np.float32)
        self._episode: Episode | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observed, dict[str, Any]]:
        """Begin an episode on a randomly drawn graph, or on graph number ``options["graph"]``."""
        super().reset(seed=seed)
        number = (options or {}).get("graph")
        if number is None:
            number = int(self.np_random.integers(len(self._graphs)))
        check_int("graph:", number, UsageError)
        if not 0 <= number < len(self._graphs):
            raise UsageError(f"graph: must be 0 to {len(self._graphs) - 1} (got {number})")
        graph = self._graphs[number]
        with within(graph.name or f"graph {number}"):
            self._episode = Episode(Problem(graph, self._cluster, objective=self._objective))
        return self._episode.observed(), self._info(number=int(number), graph=graph.name)

    def step(self, action: np.int64) -> tuple[Observed, float, bool, bool, dict[str, Any]]:
        """Place the next operator on a device; see the class for the reward."""
        episode = self._running
        if episode.over:
            raise gymnasium.error.ResetNeeded("the episode is over: call reset first")
        if not self.action_space.contains(np.int64(action)):
            last = len(self._cluster.devices) - 1
            raise gymnasium.error.InvalidAction(f"action must be 0 to {last} (got {action})")
        violation = episode.place_next(int(action))
        if violation is not None:
            return episode.observed(), 0.0, True, False, self._info(infeasible=violation)
        if not episode.done:
            return episode.observed(), 0.0, False, False, self._info()
        quality = float(evaluator(episode.problem).quality(episode.devices)[0])
        return episode.observed(), quality, True, False, self._info(relative_throughput=quality)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return a mask of the devices that the next operator may be placed on, (D,)."""
        return self._running.mask()

    @property
    def placement(self) -> Placement | None:
        """The placement, once every operator is placed; None before that."""
        episode = self._episode
        return Placement(episode.problem, episode.devices) if episode and episode.done else None

    @property
    def _running(self) -> Episode:
        if self._episode is None:
            raise gymnasium.error.ResetNeeded("no episode has begun: call reset first")
        return self._episode

    def _info(self, **extra: Any) -> dict[str, Any]:
        return {**extra, "action_mask": self.action_masks().astype(np.int8)}
