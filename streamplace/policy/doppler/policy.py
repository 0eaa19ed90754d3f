"""The policy DOPPLER (Yao et al., ICLR 2026), and its ablations with one network."""

from collections.abc import Sequence

import numpy as np
import torch

from streamplace.policy.base import Constructive
from streamplace.policy.config import DopplerSizes
from streamplace.policy.decoding import Sampler
from streamplace.policy.doppler.batch import DopplerBatch
from streamplace.policy.doppler.decoding import Decoding, Forced
from streamplace.policy.doppler.encode import EncodedProblem, encode
from streamplace.policy.doppler.networks import Place, Select
from streamplace.policy.doppler.scoring import Scores, all_scores
from streamplace.policy.teachers import Expert, Selecting, Teacher
from streamplace.policy.trajectories import Trajectories, of_actions
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Bools, Ints


class Doppler(Constructive[EncodedProblem, DopplerBatch]):
    """The policy; see the README of this folder.

    A step selects one of the operators whose inputs are all placed (SEL), and then its device
    (PLC). Each part has a network with message passing of its own.
    """

    any_objective = True

    def __init__(self, sizes: DopplerSizes) -> None:
        super().__init__()
        self.config = sizes
        self.selects = sizes.variant != "plc-only"
        self.places = sizes.variant != "sel-only"
        self.select = Select(sizes) if self.selects else None
        self.place = Place(sizes) if self.places else None

    def encode(self, problem: Problem) -> EncodedProblem:
        """Compute the features of a problem; see `Policy.encode`."""
        return encode(problem, self.config.order)

    def batch(self, encoded: Sequence[EncodedProblem]) -> DopplerBatch:
        """Join encoded problems, largest first; see `Policy.batch`."""
        return DopplerBatch(encoded, like=next(self.parameters()))

    def rollout(
        self,
        batch: DopplerBatch,
        samples: int,
        sampler: Sampler,
        forced: Ints | None = None,
        teacher: Teacher | None = None,
    ) -> Trajectories:
        """Place every problem `samples` times; see `Constructive.rollout`.

        A forced placement without an order is made in the order of the sizes.
        Operators and devices are chosen without gradients; the probabilities of all choices are
        then computed at once.
        """
        expert = None if teacher is None else teacher.follow(batch.encoded, samples)
        decoding, best = self._decode(batch, samples, sampler, forced, expert)
        scores = all_scores(self.select, self.place, decoding)
        agreement = None
        if teacher is not None:
            agreement = scores.agreement(teacher, best)
        counts = [len(step.devices) for step in decoding.steps]
        made = (scores.actions, scores.log_prob, scores.entropy, agreement)
        return of_actions(decoding.placements, counts, *made)

    def sample(self, batch: DopplerBatch, samples: int, sampler: Sampler) -> Ints:
        """Place each of P problems S times without gradients; see `Constructive.sample`."""
        with torch.inference_mode():
            return self._decode(batch, samples, sampler)[0].placements

    def _decode(
        self,
        batch: DopplerBatch,
        samples: int,
        sampler: Sampler,
        forced: Ints | None = None,
        expert: Expert | None = None,
    ) -> tuple[Decoding, list[tuple[Bools | None, Bools]]]:
        """Make all choices; return them and an expert's best operators and devices by step."""
        choices = Forced(batch, samples, forced, fixed_order=not self.selects)
        decoding = Decoding(batch, samples, self.config.start_from_load, self.config.per_step)
        best: list[tuple[Bools | None, Bools]] = []
        with torch.no_grad():
            scores = Scores(self.select, self.place, decoding)
            for t in range(int(batch.sizes[0])):
                step = decoding.begin()
                scores.observe(step)
                operators = choices.operators(t, len(step.on))
                if (operators < 0).any():
                    chosen = sampler(scores.of_operators(), samples).cpu().numpy()
                    operators = np.where(operators >= 0, operators, chosen)
                preferred = decoding.select(operators)
                devices = choices.devices(operators)
                if (devices < 0).any():
                    chosen = preferred
                    if self.places:
                        chosen = sampler(scores.of_devices(), samples).cpu().numpy()
                    devices = np.where(devices >= 0, devices, chosen)
                if expert is not None:
                    of_operators = None
                    if isinstance(expert, Selecting):
                        of_operators = expert.select(step.candidates)
                    best.append(
                        (of_operators, expert.judge(step.operators, devices.astype(np.int32)))
                    )
                decoding.place(devices)
        return decoding, best
