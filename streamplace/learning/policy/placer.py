"""The placer `policy`: ``policy``, ``policy:samples=16``, ``policy:file=policy.safetensors``."""

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from streamplace.errors import CheckpointError, Fault, UsageError
from streamplace.learning.policy.coarse import Part, parts_of, refined, supports_search
from streamplace.learning.policy.config import MAX_PLACEMENTS
from streamplace.learning.policy.device_scorer.numpy_inference import NumpyScorer, numpy_scorer
from streamplace.learning.policy.encoded import BeamSearching, Reorderable
from streamplace.learning.policy.noise import NumpySampler
from streamplace.learning.policy.registry import faults_of, policy_kind
from streamplace.learning.policy.tensor_files import WeightsFile, read_weights
from streamplace.placers.base import THROUGHPUT, refuse_other_objectives
from streamplace.placers.limits import MaxEvaluations, PlacerLimit
from streamplace.placers.repair import feasible_ones
from streamplace.placers.starting import StartingPlacer
from streamplace.problem.objectives import check_order
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.orders import traversal_order
from streamplace.scoring.registry import qualities
from streamplace.sim import work_clock
from streamplace.util.arrays import Ints
from streamplace.util.extras import load_learned
from streamplace.util.threads import one_thread

SHIPPED = Path(__file__).parent / "shipped" / "best.safetensors"
TEMPERATURE = 1.5  # higher than in training: only the best sample is kept, so variety helps
LARGEST = 30  # operators or groups placed one by one: more cost more, and end no better
CHANGES = 20  # per operator; a few milliseconds on a graph of 100 operators


@dataclass(frozen=True)
class PolicyPlacer(StartingPlacer):
    """Place operators with a trained policy.

    Parameters
    ----------
    samples
        The number of placements to sample; the first uses the most likely devices. The result is
        the placement with the best score.
    beam
        The width of a beam search whose placements are considered as well; 0 for none.
    file
        A weights file; the shipped weights by default.
    episodes
        For policies that refine a placement, the number of episodes, each from the best placement
        so far; the first uses the most likely devices.
    order
        The traversal order in which operators are placed, see `scoring.orders`; by default, the
        order or orders of the policy's own sizes.
    coarsen
        The largest number of operators that the policy places one by one, for policies that build
        placements under throughput. Of larger graphs it places groups, about so many at most. With
        several samples, some are of groups on smaller graphs as well. 0: never place groups.
        Default: 30, and 0 with a `file`.
    refine
        Changes tried per operator to improve the best placement, under throughput. With 0, the
        result is what the network placed. Default: 20, and 0 with a `file`.
    start
        For policies that refine a placement, the placer of the one to start from, where there is
        none; the best of a few fast placers by default.
    untrained
        A seed: random parameters of the same sizes instead of the trained ones, as a reference for
        what training adds.

    Raises
    ------
    UsageError
        If a number is out of range, or there is no such order.
    """

    name: ClassVar[str] = "policy"
    objectives: ClassVar[frozenset[str]] = THROUGHPUT
    samples: int = 1
    beam: int = 0
    file: str = ""
    episodes: int = 1
    order: str = ""
    coarsen: int | None = None
    refine: int | None = None
    start: str = ""
    untrained: int | None = None

    def __post_init__(self) -> None:
        for option, minimum, value in (
            ("samples", 1, self.samples),
            ("beam", 0, self.beam),
            ("episodes", 1, self.episodes),
            ("coarsen", 0, self.coarsen or 0),
            ("refine", 0, self.refine or 0),
        ):
            if not minimum <= value <= MAX_PLACEMENTS:
                limits = f"must be {minimum} to {MAX_PLACEMENTS}"
                fault = f"{option} {limits} (got {value})"
                raise UsageError(Fault(fault, place=(self.name,)))
        if self.order:
            check_order(self.order)

    def supports(self, problem: Problem) -> bool:
        """Return whether it may place under the objective; a file's weights may be for any."""
        return bool(self.file) or super().supports(problem)

    @property
    def uses_start(self) -> bool:
        """Whether the policy refines placements.

        Raises
        ------
        CheckpointError
            If the weights cannot be read.
        """
        return self._loaded().refines

    def options_for(self, limit: PlacerLimit) -> dict[str, Any] | None:
        """Return the options that set a limit; None if there is none.

        Every sample is one evaluation. The shipped weights are refined by default, which would add
        to these.
        """
        options = super().options_for(limit)
        if options and not self.file and self.refine is None:
            return {**options, "refine": 0}
        return options

    def limited_by(self, limit: PlacerLimit) -> tuple[str, ...]:
        """Return the names of all options that set the same kind of limit."""
        if not isinstance(limit, MaxEvaluations):
            return limit.parameters
        refining = () if self.refine == 0 else ("refine",)
        return (*limit.parameters, "beam", "episodes", *refining)

    def _loaded(self) -> "LoadedPolicy":
        return loaded(self.file or str(SHIPPED), self.untrained)

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the best placement found, repaired where it violates a constraint.

        A policy that refines placements starts from `start` or, without one, from the placement of
        the option `start`; the others ignore it.

        Raises
        ------
        CheckpointError
            If the weights cannot be read.
        UnsuitableError
            If the network requires a different number of devices.
        UsageError
            If `beam` is set and the network does not support beam search, `order` is set and the
            policy does not place operators in an order, `start` is set and the policy builds
            placements, or `coarsen` or `refine` is set and the policy refines placements or the
            objective is the makespan.
        PlacementError
            If none of the network's placements can be repaired.
        """
        made = self._loaded()
        if made.refines:
            return self._refined(made, problem, rng, start)
        for option, is_set in (("episodes", self.episodes > 1), ("start", bool(self.start))):
            if is_set:
                raise UsageError(f"policy: {option}: {made.name} builds placements at once")
        if not made.policy.any_objective:
            refuse_other_objectives(problem, self.name, THROUGHPUT)
        with faults_of(made.policy, "placing"):
            return self._built(made, problem, rng)

    def _built(self, made: "LoadedPolicy", problem: Problem, rng: np.random.Generator) -> Placement:
        """Return the best of the placements that a policy builds, refined.

        The placements are looked at one after another, and each that is better than all before is
        refined. A larger number of samples is therefore never worse.
        """
        largest, changes = self._limits(problem)
        seed = rng.integers(2**62)
        alone = not largest or len(problem.graph.names) <= largest
        every = chain(
            [Part(problem)] if alone else (), parts_of(problem, largest) if largest else ()
        )
        parts = list(islice(every, self.samples)) or [Part(problem)]
        drafts = {row.tobytes(): row for row in self._drafts(made, parts, rng)}
        found = feasible_ones(problem, drafts.values())
        reached = qualities(problem, found)
        before = np.maximum.accumulate(np.concatenate([[-np.inf], reached[:-1]]))
        better = [found[number] for number in np.flatnonzero(reached > before)]
        if not changes:
            return better[-1]
        again = [refined(problem, one, np.random.default_rng(seed), changes) for one in better]
        return again[int(qualities(problem, again).argmax())]

    def _limits(self, problem: Problem) -> tuple[int, int]:
        """Return the largest number of operators placed one by one, and the changes to try.

        Raises
        ------
        UsageError
            If either is set under the makespan objective.
        """
        if not problem.objective.has_rates:
            self._refuse_groups("the makespan objective has neither groups nor refinement")
            return 0, 0
        if not supports_search(problem):
            return 0, 0
        defaults = (0, 0) if self.file else (LARGEST, CHANGES)
        chosen = self.coarsen, self.refine
        coarsen, refine = (
            default if value is None else value
            for value, default in zip(chosen, defaults, strict=True)
        )
        return coarsen, refine

    def _refuse_groups(self, reason: str) -> None:
        """Raise a UsageError if `coarsen` or `refine` is set, which would change nothing."""
        for option, value in (("coarsen", self.coarsen), ("refine", self.refine)):
            if value:
                raise UsageError(f"policy: {option}: {reason}")

    def _refined(
        self,
        made: "LoadedPolicy",
        problem: Problem,
        rng: np.random.Generator,
        start: Placement | None,
    ) -> Placement:
        """Return the best placement of some episodes."""
        if self.beam:
            made.check_beam()
        self._refuse_groups(f"{made.name} refines placements of all operators")
        first = start if start is not None else self.begun(problem, rng)
        with faults_of(made.policy, "placing"):
            made.policy.check(problem)
            batch = made.policy.batch([self._encoded(made, problem, rng)])
            seed = int(rng.integers(2**62))
            refine = load_learned("streamplace.learning.policy.refining:refined_from", made.file)
            with one_thread():
                devices = refine(made.policy, batch, first, self.episodes, self.samples, seed)
        return Placement(problem, devices)

    def _drafts(
        self,
        made: "LoadedPolicy",
        parts: Sequence[Part],
        rng: np.random.Generator,
    ) -> Ints:
        """Return the placements that the policy makes, (N, V), before repair.

        The parts, whose operators or groups are placed, take turns; the beam is that of the first
        and comes last. The placements of a smaller number of samples are the first of a larger one.
        """
        drafts, turns = list[Ints](), list[int]()
        for number, part in enumerate(parts):
            own = range(number, self.samples, len(parts))
            rows = self._sampled(made, part.problem, len(own), 0 if number else self.beam, rng)
            drafts.append(part.expanded(rows))
            turns += [*own, *[self.samples] * (len(rows) - len(own))]
        return np.concatenate(drafts)[np.argsort(turns, kind="stable")]

    def _sampled(
        self,
        made: "LoadedPolicy",
        problem: Problem,
        samples: int,
        beam: int,
        rng: np.random.Generator,
    ) -> Ints:
        """Return the placements of a problem that the policy makes, (N, V), the beam's last."""
        made.policy.check(problem)
        if beam:
            made.check_beam()
        batch = made.policy.batch([self._encoded(made, problem, rng)])
        sampler = made.sampler(int(rng.integers(2**62)))
        with one_thread():
            drafts: Ints = made.policy.sample(batch, samples, sampler)[0]
            if beam:
                drafts = np.concatenate([drafts, made.policy.beam(batch, beam)])
        return drafts

    def _encoded(self, made: "LoadedPolicy", problem: Problem, rng: np.random.Generator) -> object:
        """Return a problem encoded for the policy, in the requested order."""
        encoded = made.policy.encode(problem)
        if not self.order:
            return encoded
        if not isinstance(encoded, Reorderable):
            raise UsageError(f"policy: order: {made.name} does not support orders")
        return encoded.in_order(traversal_order(problem, self.order, rng))


@dataclass(frozen=True, eq=False)
class LoadedPolicy:
    """A policy in a weights file.

    Attributes
    ----------
    policy
        A `learning.policy.base.Policy`, or a `NumpyScorer`, which has the same methods without
        torch.
    card
        Facts about the origin of its weights.
    """

    file: str
    policy: Any
    kind: str
    card: Mapping[str, Any]

    @property
    def refines(self) -> bool:
        """Whether it improves placements instead of building them."""
        return policy_kind(self.kind).refines

    @property
    def name(self) -> str:
        """The name of its class, for messages."""
        in_numpy = isinstance(self.policy, NumpyScorer)
        return "DeviceScorer" if in_numpy else type(self.policy).__name__

    def check_beam(self) -> None:
        """Raise a UsageError unless the policy supports beam search."""
        if not isinstance(self.policy, BeamSearching):
            raise UsageError(f"policy: beam: {self.name} does not support beam search")

    def sampler(self, seed: int) -> Any:
        """Return the rule that chooses devices, the most likely ones for the first sample."""
        if isinstance(self.policy, NumpyScorer):
            return NumpySampler(seed, TEMPERATURE)
        return load_learned("streamplace.learning.policy.decoding:placing", self.file)(
            seed, TEMPERATURE
        )


def loaded(file: str, untrained: int | None = None) -> LoadedPolicy:
    """Return the policy in a weights file, which is read again only after it changed.

    Parameters
    ----------
    untrained
        A seed: the policy has random parameters instead of those of the file.

    Raises
    ------
    CheckpointError
        If the weights cannot be read.
    UsageError
        If the policy needs torch, which is not installed.
    """
    with work_clock.loading():
        return _read(file, _modified_ns(file), untrained)


@lru_cache(maxsize=8)
def _read(path: str, modified_ns: int, untrained: int | None) -> LoadedPolicy:
    file = read_weights(path)
    return LoadedPolicy(path, _policy_of(file, path, untrained), file.section.kind, file.card)


def _policy_of(file: WeightsFile, path: str, untrained: int | None) -> Any:
    """Return the policy in a weights file, in numpy if it is a trained device scorer."""
    what = f"{path}, of the kind {file.section.kind!r},"
    if untrained is not None:
        new_policy = load_learned("streamplace.learning.policy.weights:new_policy", what)
        return new_policy(file.section, untrained)
    if file.section.kind == "device-scorer":
        return numpy_scorer(file, path)
    return load_learned("streamplace.learning.policy.weights:policy_of", what)(file, path)


def _modified_ns(path: str | Path) -> int:
    """Return the modification time of a file in ns; 0 if there is none: reading it will fail.

    Raises
    ------
    CheckpointError
        If the file is a pipe. A pipe can be read only once, and every process reads the weights.
    """
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return 0
    if stat.S_ISFIFO(status.st_mode):
        raise CheckpointError(f"{path}: must be a regular file (got a pipe)")
    return status.st_mtime_ns
