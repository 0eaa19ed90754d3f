"""The environment: one problem an episode, one operator a step, one device an action."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from streamplace.env.episode import Episode
from streamplace.env.graphs import DEFAULT, graphs_of
from streamplace.env.observation import HIGHEST, Observed, size_of
from streamplace.errors import UsageError, within
from streamplace.generate import Recipe
from streamplace.problem.cluster import Cluster
from streamplace.problem.graph import StreamGraph
from streamplace.problem.objective import Model, Throughput
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.registry import evaluator
from streamplace.util.checks import check_int


class PlacementEnv(gymnasium.Env[Observed, np.int64]):
    """Place the operators of a graph, level by level, each on one of D devices.

    **Episode.** `reset` draws a graph by its seed; ``options={"graph": number}`` asks for one.
    Operators come in the order of our policy: upstream first, by depth.

    **Action.** The device of the operator that is next, ``Discrete(D)``.

    **Mask.** `action_masks` (for sb3-contrib; also ``info["action_mask"]``) is true for devices
    that constraints, labels and memory leave, given what is placed; of devices that are alike and
    run nothing only the first is offered, since the others would be the same choice; choosing one
    of those all the same breaks no rule.

    **Observation.** ``Box(-16, 16, (26 + 29 D,), float32)``: see `streamplace.env.observation`.

    **Reward.** 0 until the last operator is placed, then relative throughput, from 0 to 1, under
    the model. An episode ends at once, with reward 0 and the reason in ``info["infeasible"]``, when
    an action breaks a rule or leaves the next operator no device; a mask alone does not look
    further ahead than one operator, so memory or operators to be kept apart can lead there.

    Parameters
    ----------
    graphs
        A dataset's path, a `Recipe` of generated graphs, or one graph or more; by default a
        thousand series-parallel ones of 6 to 12 operators.
    cluster
        Or as text, ``5x2500``; by default the paper's. The same in every episode.
    source_rate, model, target_utilisation
        As for `place`; the rate is each graph's own unless told.

    Raises
    ------
    StreamplaceError
        Whatever is wrong with the dataset, the cluster or, at a `reset`, with a problem.
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
        """Begin an episode on a graph drawn by the seed, or on the one that options ask for."""
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
        """Place the next operator on a device; see the class."""
        episode = self._running
        if episode.over:
            raise gymnasium.error.ResetNeeded("the episode is over; reset begins another")
        if not self.action_space.contains(np.int64(action)):
            raise gymnasium.error.InvalidAction(f"no device has the number {action}")
        wrong = episode.place_next(int(action))
        if wrong is not None:
            return episode.observed(), 0.0, True, False, self._info(infeasible=wrong)
        if not episode.done:
            return episode.observed(), 0.0, False, False, self._info()
        reached = float(evaluator(episode.problem).quality(episode.devices)[0])
        return episode.observed(), reached, True, False, self._info(relative_throughput=reached)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the devices that the next operator may go to, (D,)."""
        return self._running.mask()

    @property
    def placement(self) -> Placement | None:
        """What was placed, once every operator is."""
        episode = self._episode
        return Placement(episode.problem, episode.devices) if episode and episode.done else None

    @property
    def _running(self) -> Episode:
        if self._episode is None:
            raise gymnasium.error.ResetNeeded("reset comes first")
        return self._episode

    def _info(self, **extra: Any) -> dict[str, Any]:
        return {**extra, "action_mask": self.action_masks().astype(np.int8)}
