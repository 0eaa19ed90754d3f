"""The observation before an operator is placed: one flat float32 vector of 26 + 29 D numbers.

These are the inputs of streamplace's own policy, in this order:

- 14 about the operator, `OF_OPERATOR`;
- 12 about the whole problem, `OF_PROBLEM`;
- for each device in turn: 1 if the action mask offers it, otherwise 0; then the 28 numbers of
  `streamplace.sim.lookahead.CANDIDATE_FEATURES`, about the device without and with the operator on
  it.

**Units.** Loads (of CPUs and links) are utilisations divided by the lower bound on the
largest utilisation of any placement, so 1 is perfect balance whatever the source rate and the size
of the cluster. Loads above 2 are compressed to 2 + 2 ln(x / 2). The other numbers are shares,
counts and flags as named. All numbers are clipped to -16 … 16; a load reaches 16 at about 2,000
times that bound.
"""

import numpy as np
from numpy.typing import NDArray

from streamplace.learning.policy.device_scorer.features import ScorerProblem
from streamplace.sim.lookahead import F, LookaheadBatch, PartialPlacements, candidate_features

Observed = NDArray[np.float32]

OF_OPERATOR = (
    "CPU load, relative to a mean device",
    "traffic sent, relative to a mean link",
    "traffic received, relative to a mean link",
    "heaviest stream sent, relative to a mean link",
    "heaviest stream received, relative to a mean link",
    "ln(1 + streams out)",
    "ln(1 + streams in)",
    "depth, relative to the longest path",
    "height, relative to the longest path",
    "1 if a sink",
    "1 if a source",
    "CPU load relative to the mean operator, divided by 5, at most 2",
    "1 / (1 + height)",
    "tuples processed per source tuple",
)
OF_PROBLEM = (
    "log2(devices) / 4",
    "log2(operators) / 6",
    "log2(operators / devices) / 3",
    "fastest device relative to the mean, minus 1",
    "slowest device relative to the mean",
    "1 if links are network interfaces (nic)",
    "total CPU load, relative to the load at the least utilisation",
    "total traffic per device, relative to a mean link",
    "heaviest stream, relative to a mean link",
    "longest path, relative to the number of operators",
    "1 if the model is path-average",
    "log2 of the least utilisation, -3 to 3, under path-average",
)
HIGHEST = 16.0


def size_of(devices: int) -> int:
    """Return the length of an observation."""
    return len(OF_OPERATOR) + len(OF_PROBLEM) + devices * (1 + F)


def final_observation(devices: int) -> Observed:
    """Return the observation after the last step, which is all zeros."""
    return np.zeros(size_of(devices), dtype=np.float32)


def lookahead(
    batch: LookaheadBatch, partial: PartialPlacements, operator: int
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return an operator's features on each device, (D, F), and a mask of offered devices, (D,)."""
    devices = len(batch.capacity)
    candidates = np.zeros((1, devices, F), dtype=np.float32)
    offered = np.zeros((1, devices), dtype=np.bool_)
    candidate_features(batch, partial, np.array([operator], dtype=np.int32), candidates, offered)
    return candidates[0], offered[0]


def observation(
    encoded: ScorerProblem, operator: int, candidates: NDArray[np.float32], mask: NDArray[np.bool_]
) -> Observed:
    """Return the observation of an operator; see the module's docstring."""
    of_devices = np.concatenate([mask[:, None].astype(np.float32), candidates], axis=1)
    numbers = np.concatenate([encoded.operators[operator], encoded.totals, of_devices.ravel()])
    clipped: Observed = np.clip(numbers, -HIGHEST, HIGHEST).astype(np.float32)
    return clipped
