"""Training steps of random recurrent cells of ENAS's search space, unrolled, for Penn Treebank."""

from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy as np

from streamplace.families.family import MAX_SIZE, check_range
from streamplace.families.networks import Step, merged_graph
from streamplace.problem.graph import StreamGraph

NODES = 12  # of a cell
KINDS = ("tanh", "relu", "sigmoid", "identity")
VOCABULARY = 10_000
PREVIOUS = 0.5  # share of nodes whose parent is the node before, for the depth of Placeto's graphs
STEPS = range(17, 20)  # of a training step, for the number of operators of Placeto's graphs
FORWARD_STEPS = range(20, 31)  # GiPH's unrolling
BATCH = range(80, 151)  # GiPH's batch size

Cell = list[tuple[int, str]]
"""Parent and activation of each node; the parent of node 0 is the input with the state."""


@dataclass(frozen=True)
class EnasPtb:
    """Recurrent cells like those of ENAS (Pham et al., ICML 2018), the graphs ``ptb`` of Placeto.

    A cell of 12 nodes with random parents and activations is drawn and unrolled, the backward pass
    mirrors it, and the cheapest operations are merged until `operators` are left.

    Parameters
    ----------
    width
        Numbers per word and state.
    backward
        Whether there is a backward pass. Without it, cells are unrolled 20 to 30 times, and with 40
        operators the graphs are those that GiPH describes (section 5.2).
    """

    sizes: ClassVar[range] = range(450, 552)
    least: ClassVar[int] = 40
    width: int = 200
    backward: bool = True

    def __post_init__(self) -> None:
        check_range("width", self.width, MAX_SIZE)

    def __call__(self, operators: int, rng: np.random.Generator, name: str) -> StreamGraph:
        """Return one network; see `Family`."""
        length, batch = rng.random(2).tolist()
        known = STEPS if self.backward else FORWARD_STEPS
        steps = known[int(length * len(known))]
        steps = max(steps, round(steps * operators / max(self.sizes)))
        network = _Network(Step(), BATCH[int(batch * len(BATCH))], self.width, _cell(rng))
        network.build(steps)
        if self.backward:
            network.step.add_backward()
        return merged_graph(network.step, operators, name)


def _cell(rng: np.random.Generator) -> Cell:
    """Draw a cell: the parent of each node is the one before, or a random earlier one."""
    cell: Cell = []
    for v, (how, which, kind) in enumerate(rng.random((NODES, 3)).tolist()):
        parent = v - 1 if how < PREVIOUS else int(which * v)
        cell.append((parent if v else -1, KINDS[int(kind * len(KINDS))]))
    return cell


@dataclass
class _Network:
    """A network under construction.

    Inputs that a gradient needs are left out except those of products, so that there are as many
    streams as in the published graphs.
    """

    step: Step
    batch: int
    width: int
    cell: Cell

    def build(self, steps: int) -> None:
        """Add the forward pass of `steps` steps."""
        state = self.step.add_named("state", self._shape, ())
        embedding = self.step.add_named("embedding", (steps, *self._shape), ())
        losses = []
        for t in range(steps):
            name = f"step{t}"
            words = self.step.add_named(f"{name}.words", self._shape, (embedding,), linear=True)
            state = self._node_results(name, words, state)
            scores = (self.batch, VOCABULARY)
            work = 2.0 * self.batch * self.width * VOCABULARY
            size = self.width * VOCABULARY
            logits = self.step.add_named(
                f"{name}.logits", scores, (state,), work, weights=size, shared="logits"
            )
            losses.append(
                self.step.add_named(f"{name}.loss", (1,), (logits,), 5.0 * self.batch * VOCABULARY)
            )
        self.step.add_named("loss", (1,), losses, linear=True)

    def _node_results(self, name: str, words: int, state: int) -> int:
        """Add the nodes of one step, and return the mean of those that no other node uses."""
        shape = self.batch, 2 * self.width
        joined = self.step.add_named(f"{name}.joined", shape, (words, state), linear=True)
        results: list[int] = []
        for v, (parent, kind) in enumerate(self.cell):
            before = joined if parent < 0 else results[parent]
            results.append(self._node(f"{name}.node{v}", f"node{v}", kind, before))
        used = {parent for parent, _ in self.cell}
        loose = [result for v, result in enumerate(results) if v not in used]
        work = float(len(loose) * self.batch * self.width)
        return self.step.add_named(f"{name}.mean", self._shape, loose, work, linear=True)

    def _node(self, name: str, weights: str, kind: str, before: int) -> int:
        """Add a highway node: gate * activation + (1 - gate) * the parent's result."""
        size = self.step.operations[before].shape[1]
        shape = self.batch, 2 * self.width
        work = 2.0 * size * shape[0] * shape[1]
        product = self.step.add_named(
            f"{name}.matmul", shape, (before,), work, weights=size * shape[1], shared=weights
        )
        # a sigmoid, an activation, two products, a difference and a sum
        flops = 6.0 * prod(self._shape)
        return self.step.add_named(
            f"{name}.{kind}", self._shape, (product, before), flops, linear=True
        )

    @property
    def _shape(self) -> tuple[int, int]:
        return self.batch, self.width
