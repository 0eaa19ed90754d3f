"""The policy DOPPLER (Yao et al., ICLR 2026), its ablations, and the scores of its choices."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from streamplace.learning.policy.base import Constructive
from streamplace.learning.policy.decoding import Sampler
from streamplace.learning.policy.teachers import Teacher
from streamplace.learning.policy.trajectories import Trajectories
from streamplace.papers.doppler.decoding import Decoding, Forced, Step
from streamplace.papers.doppler.features import DopplerBatch, DopplerProblem, encode
from streamplace.papers.doppler.network import Place, Rows, Select
from streamplace.papers.doppler.sizes import DopplerSizes
from streamplace.problem.problem import Problem
from streamplace.util.arrays import Bools, Ints

ACTION = ("operators", "devices")
"""The parts of an action as attributes of a step."""


class Scores:
    """Logits of the latest step of a rollout.

    Embeddings are computed once for all steps unless the network reads which operators are placed.
    """

    def __init__(self, select: Select | None, place: Place | None, decoding: Decoding) -> None:
        self._select, self._place, self._decoding = select, place, decoding
        self._batch = decoding.batch
        self._embedded: list[Tensor | None] = [None, None]
        self._has_embedded = False

    def observe(self, step: Step) -> None:
        """Embed the operators at the begin of a step."""
        self._step = step
        if self._has_embedded and step.times is None:
            return
        times = None if step.times is None else self._batch.tensor(step.times)
        networks = (self._select, self._place)
        self._embedded = [
            None if one is None else one.embed(self._batch, times) for one in networks
        ]
        self._has_embedded = True

    def of_operators(self) -> Tensor:
        """Return the logits of SEL for the step, (R', V)."""
        assert self._select is not None, "the policy selects operators"
        assert self._embedded[0] is not None, "`observe` comes first"
        rows = rows_of(self._decoding, [self._step])
        candidates = self._batch.tensor(self._step.candidates)
        return self._select.logits(self._batch, self._embedded[0], rows, candidates)

    def of_devices(self) -> Tensor:
        """Return the logits of PLC for the step, (R', D)."""
        assert self._place is not None, "the policy places operators"
        assert self._embedded[1] is not None, "`observe` comes first"
        rows, embedded = rows_of(self._decoding, [self._step]), self._embedded[1]
        resident = residents(self._batch, self._step, rows, embedded)
        return _of_devices(self._place, self._batch, [self._step], rows, embedded, resident)


@dataclass(frozen=True)
class Scored:
    """All N decisions of a rollout, ordered by step; see `Trajectories`.

    Attributes
    ----------
    actions
        (N, 2) operators and devices.
    logs
        The log-probabilities of all operators, (N, V), and of all devices, (N, D); None for a part
        that the policy does not choose.
    candidates, offered
        (N, V) and (N, D) bool, what could be chosen.
    """

    actions: Tensor
    logs: tuple[Tensor | None, Tensor | None]
    candidates: Tensor
    offered: Tensor

    @property
    def log_prob(self) -> Tensor:
        """(N, 2) the log-probability of each part."""
        parts = [
            None if logs is None else logs.gather(1, self.actions[:, part, None]).squeeze(1)
            for part, logs in enumerate(self.logs)
        ]
        return self._stacked(parts)

    @property
    def entropy(self) -> Tensor:
        """(N, 2) the entropy of each part in nats."""
        parts = [None if logs is None else -(logs.exp() * logs).sum(dim=1) for logs in self.logs]
        return self._stacked(parts)

    def agreement(self, teacher: Teacher, best: Sequence[tuple[Bools | None, Bools]]) -> Tensor:
        """Return the log-probability of a teacher's operators and devices, (N, 2).

        The part of an expert that names no operators is 0.
        """
        parts: list[Tensor | None] = []
        for part, offered in enumerate((self.candidates, self.offered)):
            logs, named = self.logs[part], [one[part] for one in best]
            known = [one for one in named if one is not None]
            if logs is None or not known:
                parts.append(None)
                continue
            wanted = torch.from_numpy(np.concatenate(known)).to(logs.device)
            parts.append(teacher.agreement(logs, wanted & offered))
        return self._stacked(parts)

    def _stacked(self, parts: Sequence[Tensor | None]) -> Tensor:
        """Return two parts, (N,) each, as (N, 2), with 0 for a part that is None."""
        (dtype,) = {logs.dtype for logs in self.logs if logs is not None}
        nothing = torch.zeros(len(self.actions), dtype=dtype, device=self.actions.device)
        return torch.stack([nothing if part is None else part for part in parts], dim=1)


def all_scores(select: Select | None, place: Place | None, decoding: Decoding) -> Scored:
    """Return the scores of all decisions, with gradients if these are enabled.

    Where messages are passed at every step, embeddings are computed again for the gradient, so that
    those of one step at a time are kept.
    """
    batch, steps = decoding.batch, decoding.steps
    if steps[0].times is None:
        found = _logs(select, place, decoding, steps, None)
    else:
        parts = [
            checkpoint(
                _logs,
                select,
                place,
                decoding,
                [step],
                batch.tensor(step.times),
                use_reentrant=False,
            )
            for step in steps
            if step.times is not None
        ]
        found = (
            None if select is None else torch.cat([one for one, _ in parts]),
            None if place is None else torch.cat([one for _, one in parts]),
        )
    actions = [np.concatenate([getattr(one, name) for one in steps]) for name in ACTION]
    return Scored(
        actions=batch.tensor(np.stack(actions, axis=1).astype(np.int64)),
        logs=found,
        candidates=batch.tensor(np.concatenate([step.candidates for step in steps])),
        offered=batch.tensor(np.concatenate([step.offered for step in steps])),
    )


def rows_of(decoding: Decoding, steps: Sequence[Step]) -> Rows:
    """Return the decisions of steps, ordered by step."""
    samples, batch = decoding.samples, decoding.batch
    row = np.concatenate([np.arange(len(step.on)) for step in steps])
    column = row % samples if steps[0].times is not None else np.zeros_like(row)
    return Rows(batch.tensor(row // samples), batch.tensor(column))


def residents(batch: DopplerBatch, step: Step, rows: Rows, embedded: Tensor) -> Tensor:
    """Return the sums of the embeddings of the operators on each device, (R', D, L), at a step."""
    on = batch.tensor(step.on.astype(np.int64))
    row, operator = (on >= 0).nonzero(as_tuple=True)
    sent = embedded[batch.starts[rows.problem[row]] + operator, rows.column[row]]
    shape = (len(on) * batch.devices, embedded.shape[2])
    sums = embedded.new_zeros(shape).index_add(0, row * batch.devices + on[row, operator], sent)
    return sums.view(len(on), batch.devices, -1)


def _all_residents(
    batch: DopplerBatch, steps: Sequence[Step], rows: Rows, embedded: Tensor
) -> Tensor:
    """Return `residents` of all steps, (N, D, L), of embeddings that no step changes."""
    counts = [len(step.on) for step in steps]
    placed, on = (
        batch.tensor(np.concatenate([getattr(one, name) for one in steps]).astype(np.int64))
        for name in ACTION
    )
    onto = torch.nn.functional.one_hot(on, batch.devices).to(embedded.dtype).unsqueeze(2)
    added = onto * embedded[batch.starts[rows.problem] + placed, rows.column].unsqueeze(1)
    sums = [torch.zeros_like(added[: counts[0]])]
    for before, kept in zip(torch.split(added, counts), counts[1:], strict=False):
        sums.append(sums[-1][:kept] + before[:kept])
    return torch.cat(sums)


def _logs(
    select: Select | None,
    place: Place | None,
    decoding: Decoding,
    steps: Sequence[Step],
    times: Tensor | None,
) -> tuple[Tensor | None, Tensor | None]:
    """Return the log-probabilities of operators, (N, V), and of devices, (N, D), at some steps."""
    batch, rows = decoding.batch, rows_of(decoding, steps)
    of_operators = of_devices = None
    if select is not None:
        candidates = batch.tensor(np.concatenate([step.candidates for step in steps]))
        logits = select.logits(batch, select.embed(batch, times), rows, candidates)
        of_operators = torch.log_softmax(logits, dim=1)
    if place is not None:
        embedded = place.embed(batch, times)
        if times is None:
            resident = _all_residents(batch, steps, rows, embedded)
        else:
            resident = residents(batch, steps[0], rows, embedded)
        logits = _of_devices(place, batch, steps, rows, embedded, resident)
        of_devices = torch.log_softmax(logits, dim=1)
    return of_operators, of_devices


def _of_devices(
    place: Place,
    batch: DopplerBatch,
    steps: Sequence[Step],
    rows: Rows,
    embedded: Tensor,
    resident: Tensor,
) -> Tensor:
    """Return the logits of PLC at some steps, (N, D)."""
    operators, features, offered = (
        batch.tensor(np.concatenate([getattr(step, name) for step in steps]))
        for name in ("operators", "features", "offered")
    )
    return place.logits(batch, embedded, rows, operators.long(), resident, features, offered)


class Doppler(Constructive[DopplerProblem, DopplerBatch]):
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

    def encode(self, problem: Problem) -> DopplerProblem:
        """Compute the features of a problem; see `Policy.encode`."""
        return encode(problem, self.config.order)

    def batch(self, encoded: Sequence[DopplerProblem]) -> DopplerBatch:
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
        decoding, best = self._decode(batch, samples, sampler, forced, teacher)
        scores = all_scores(self.select, self.place, decoding)
        agreement = None
        if teacher is not None:
            agreement = scores.agreement(teacher, best)
        counts = [len(step.devices) for step in decoding.steps]
        made = (scores.actions, scores.log_prob, scores.entropy, agreement)
        return Trajectories.of_actions(decoding.placements, counts, *made)

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
        teacher: Teacher | None = None,
    ) -> tuple[Decoding, list[tuple[Bools | None, Bools]]]:
        """Make all choices; return them and a teacher's best operators and devices by step."""
        expert = None if teacher is None else teacher.follow(batch.encoded, samples)
        choices = Forced(batch, samples, forced, fixed_order=not self.selects)
        decoding = Decoding(batch, samples, self.config.per_step)
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
                    best.append(
                        (
                            Teacher.selected(expert, step.candidates),
                            expert.judge(step.operators, devices.astype(np.int32)),
                        )
                    )
                decoding.place(devices)
        return decoding, best
