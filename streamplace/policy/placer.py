"""A policy as a placer: ``policy``, ``policy:samples=16``, ``policy:file=policy.safetensors``."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import torch
from threadpoolctl import ThreadpoolController

from streamplace.errors import CheckpointError, UsageError
from streamplace.placers.repair import feasible, feasible_ones
from streamplace.policy.base import AnyPolicy, BeamSearching
from streamplace.policy.config import MOST_PLACEMENTS
from streamplace.policy.decoding import Sampler
from streamplace.policy.faults import faults_of
from streamplace.policy.weights import read_policy
from streamplace.problem.placement import Placement
from streamplace.problem.problem import Problem
from streamplace.scoring.quality import qualities
from streamplace.util.arrays import Ints

SHIPPED = Path(__file__).parent / "shipped" / "best.safetensors"
TEMPERATURE = 1.5  # of samples: flatter than in training, since the best of them is kept


@dataclass(frozen=True)
class PolicyPlacer:
    """Place by a trained network.

    Parameters
    ----------
    samples
        Placements made, the likeliest one first; the best of them by score is the answer.
    beam
        Width of a beam search whose placements are tried as well; 0 is none.
    file
        Weights; those that are shipped unless told.
    """

    samples: int = 1
    beam: int = 0
    file: str = ""

    def __post_init__(self) -> None:
        for option, least, value in (("samples", 1, self.samples), ("beam", 0, self.beam)):
            if not least <= value <= MOST_PLACEMENTS:
                must = f"must be {least} to {MOST_PLACEMENTS}"
                raise UsageError(f"policy: {option} {must} (got {value})")

    def __call__(
        self, problem: Problem, rng: np.random.Generator, start: Placement | None = None
    ) -> Placement:
        """Return the best placement made, repaired where a constraint asks for it.

        Raises
        ------
        CheckpointError
            If the weights cannot be read.
        UnsuitableError
            If the network places on another number of devices.
        UsageError
            If the network does not decode by beam search, and is asked to.
        PlacementError
            If no placement it makes can be repaired.
        """
        policy = _policy(self.file or str(SHIPPED), _changed(self.file or SHIPPED))
        with faults_of(policy, "placing"):
            drafts = self._drafts(policy, problem, rng)
        if len(drafts) == 1:
            return feasible(problem, drafts[0])
        found = feasible_ones(problem, np.unique(drafts, axis=0))
        return found[int(qualities(problem, found).argmax())]

    def _drafts(self, policy: AnyPolicy, problem: Problem, rng: np.random.Generator) -> Ints:
        """Return the placements that the policy makes, (N, V), as they are."""
        policy.check(problem)
        searching = _searching(policy) if self.beam else None
        batch = policy.batch([policy.encode(problem)])
        generator = None
        if self.samples > 1:
            generator = torch.Generator().manual_seed(int(rng.integers(2**62)))
        sampler = Sampler(generator, TEMPERATURE, first_is_likeliest=True)
        with _one_thread():
            drafts: Ints = policy.sample(batch, self.samples, sampler)[0]
            if searching is not None:
                drafts = np.concatenate([drafts, searching.beam(batch, self.beam)])
        return drafts


def _searching(policy: AnyPolicy) -> BeamSearching:
    """Return a policy that decodes by beam search; refuse any other."""
    if isinstance(policy, BeamSearching):
        return policy
    raise UsageError(f"policy: beam: {type(policy).__name__} does not decode by beam search")


@lru_cache(maxsize=8)
def _policy(path: str, changed: int) -> AnyPolicy:
    policy, _ = read_policy(path)
    return policy


def _changed(path: str | Path) -> int:
    """Return when a file was written, in ns; 0 if there is none, which reading it will tell.

    Raises
    ------
    CheckpointError
        If it is a pipe: that can be read but once, and every process reads its weights itself.
    """
    try:
        about = os.stat(path)
    except (OSError, ValueError):
        return 0
    if stat.S_ISFIFO(about.st_mode):
        raise CheckpointError(f"{path}: is a pipe; weights are read from files")
    return about.st_mtime_ns


@contextmanager
def _one_thread() -> Iterator[None]:
    """Keep torch and numpy to one thread: the products of one problem are too small to share out.

    Threads that wait for such a share burn as much time again.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with _blas().limit(limits=1, user_api="blas"):
            yield
    finally:
        torch.set_num_threads(before)


@cache
def _blas() -> ThreadpoolController:
    """Return a handle to numpy's threads; looking for them takes milliseconds."""
    return ThreadpoolController()
