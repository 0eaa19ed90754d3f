"""Training steps of translation networks: LSTM encoder and decoder with attention, unrolled."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy as np

from streamplace.families.family import MAX_SIZE, check_range
from streamplace.families.networks import Step, merged_graph
from streamplace.problem.graph import StreamGraph

LAYERS = range(2, 4)
CELLS = range(30, 35)  # of the encoder and the decoder together, about, in a graph of usual size
WIDTHS, BATCHES = range(256, 1025, 64), range(32, 129)
VOCABULARY = 32_000
LSTM_FLOPS = 9.0  # per element of the state: four activations, tanh, three products and a sum


@dataclass(frozen=True)
class Nmt:
    """Encoder and decoder networks with attention, like the graphs ``nmt`` of Placeto.

    Two or three layers of LSTM cells are unrolled over a sentence of the encoder and one of the
    decoder. Every step of the decoder attends to all states of the encoder's last layer. The
    backward pass mirrors the forward pass, and the cheapest operations are merged until `operators`
    are left.

    Parameters
    ----------
    width, batch
        Numbers per state, and sentences that are translated at once; None draws 256 to 1024 and 32
        to 128.
    """

    sizes: ClassVar[range] = range(160, 200)
    least: ClassVar[int] = 60
    width: int | None = None
    batch: int | None = None

    def __post_init__(self) -> None:
        for what in ("width", "batch"):
            if (value := getattr(self, what)) is not None:
                check_range(what, value, MAX_SIZE)

    def __call__(self, operators: int, rng: np.random.Generator, name: str) -> StreamGraph:
        """Return one network; see `Family`."""
        depth, split, cells, wide, many = rng.random(5).tolist()
        layers = LAYERS[int(depth * len(LAYERS))]
        words = CELLS[int(cells * len(CELLS))] / layers
        steps = max(2, round(words * max(1.0, operators / max(self.sizes))))
        encoder = max(1, round(steps * (0.4 + 0.2 * split)))
        width = self.width or WIDTHS[int(wide * len(WIDTHS))]
        batch = self.batch or BATCHES[int(many * len(BATCHES))]
        network = _Network(Step(), batch, width, layers)
        network.build(encoder, max(1, steps - encoder))
        return merged_graph(network.step, operators, name)


@dataclass
class _Network:
    """A network under construction.

    Inputs that a gradient needs are left out except those of products, so that there are as many
    streams as in the published graphs.
    """

    step: Step
    batch: int
    width: int
    layers: int

    def build(self, encoder: int, decoder: int) -> None:
        """Add the forward pass of these numbers of words, and the backward pass."""
        states: list[int] = []
        memory = []
        for t in range(encoder):
            words = self.step.add_named(f"encoder{t}.embedding", self._shape, ())
            states = self._stack(f"encoder{t}", "encoder", words, states)
            memory.append(states[-1])
        losses = []
        for t in range(decoder):
            words = self.step.add_named(f"decoder{t}.embedding", self._shape, ())
            states = self._stack(f"decoder{t}", "decoder", words, states)
            losses.append(self._output(f"decoder{t}", states[-1], memory))
        self.step.add_named("loss", (1,), losses, linear=True)
        self.step.add_backward()

    def _stack(self, name: str, weights: str, words: int, states: list[int]) -> list[int]:
        """Add one word's cell of each layer, and return the new states; the first has none."""
        below, after = words, []
        for layer in range(self.layers):
            state = states[layer : layer + 1]
            below = self._cell(f"{name}.layer{layer}", f"{weights}{layer}", below, state)
            after.append(below)
        return after

    def _cell(self, name: str, weights: str, below: int, state: list[int]) -> int:
        """Add an LSTM cell, whose result is its output and its state."""
        size, shape = 2 * self.width, (self.batch, 4 * self.width)
        work, count = 2.0 * size * prod(shape), size * shape[1]
        gates = self.step.add_named(
            f"{name}.gates", shape, [below, *state], work, weights=count, shared=weights
        )
        flops = LSTM_FLOPS * prod(self._shape)
        return self.step.add_named(f"{name}.lstm", self._shape, [gates, *state], flops, linear=True)

    def _output(self, name: str, state: int, memory: Sequence[int]) -> int:
        """Add the attention of a state to the encoder's, the scores of words, and the loss."""
        # a product, a softmax and a weighted sum over all states
        work = (2.0 + 2.0) * len(memory) * prod(self._shape)
        attended = self.step.add_named(
            f"{name}.attention", self._shape, [state, *memory], work, linear=True
        )
        scores, size = (self.batch, VOCABULARY), 2 * self.width * VOCABULARY
        work = 2.0 * self.batch * size
        logits = self.step.add_named(
            f"{name}.logits", scores, (state, attended), work, weights=size, shared="logits"
        )
        return self.step.add_named(f"{name}.loss", (1,), (logits,), 5.0 * prod(scores), linear=True)

    @property
    def _shape(self) -> tuple[int, int]:
        return self.batch, self.width
