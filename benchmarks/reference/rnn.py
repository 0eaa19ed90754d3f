"""The RNN placer in plain numpy, one problem and one operator at a time, in double precision.

It reads the parameters of `streamplace.papers.rnn.network` by name and nothing else of that
package.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from streamplace import Problem
from streamplace.util.arrays import Floats, Ints


def vectors(
    problem: Problem, order: Sequence[int], labels: Sequence[str], outputs: int, operators: int
) -> list[list[float]]:
    """Return the vector of each operator in decoding order, (V, F), padded to a network's inputs.

    Every operator of the problem must process as many tuples as the others.
    """
    graph, position = problem.graph, {v: t for t, v in enumerate(order)}
    index = {operator.name: v for v, operator in enumerate(graph.operators)}
    work = [operator.instructions for operator in graph.operators]
    sent: dict[int, list[tuple[int, float]]] = {v: [] for v in order}
    for stream in graph.streams:
        source = graph.operators[index[stream.source]]
        payload = stream.payload_bytes
        size = source.payload_bytes if payload is None else payload
        sent[index[stream.source]].append((position[index[stream.target]], size))
    largest = max((size for outs in sent.values() for _, size in outs), default=1.0)
    rows = []
    for v in order:
        outs = sorted(sent[v], key=lambda out: (out[0], -out[1]))
        sizes = [size / largest for _, size in outs] + [0.0] * (outputs - len(outs))
        required = graph.operators[v].requires
        types = [1.0 if label in required else 0.0 for label in labels]
        targets = {target for target, _ in outs}
        adjacent = [1.0 if t in targets else 0.0 for t in range(operators)]
        rows.append([*types, work[v] / max(work), *sizes, *adjacent])
    return rows


def logits(
    parameters: Mapping[str, Floats], rows: Sequence[Sequence[float]], devices: Ints
) -> list[Floats]:
    """Return the logits of each step, (D,) each, before devices are masked.

    Parameters
    ----------
    parameters
        Arrays by name, as `Rnn.named_parameters` yields them.
    rows
        (V, F) the vectors of the operators in decoding order.
    devices
        (V,) the device that is chosen at each step.
    """
    of = {name: np.asarray(values, np.float64) for name, values in parameters.items()}
    ahead, state, cell = _read(of, "encoder", "_l0", rows)
    back, _, _ = _read(of, "encoder", "_l0_reverse", rows[::-1])
    read = [np.concatenate(pair) for pair in zip(ahead, back[::-1], strict=True)]
    last, found = np.zeros(len(of["choose.bias"])), []
    for device in devices.tolist():
        state, cell = _cell(of, "decoder", "_l0", last, state, cell)
        scores = [
            (
                of["attention.score.weight"]
                @ np.tanh(
                    of["attention.operator.weight"] @ e + of["attention.state.weight"] @ state
                )
            ).item()
            for e in read
        ]
        weights = np.exp(scores) / np.exp(scores).sum()
        context = np.sum([w * e for w, e in zip(weights, read, strict=True)], axis=0)
        joined = of["choose.weight"] @ np.concatenate([context, state]) + of["choose.bias"]
        found.append(5.0 * np.tanh(joined / 10.0))
        last = np.eye(len(last))[device]
    return found


def _read(
    of: Mapping[str, Floats], name: str, suffix: str, rows: Sequence[Sequence[float]]
) -> tuple[list[Floats], Floats, Floats]:
    """Return the outputs of an LSTM for each vector, and its last state and cell."""
    hidden = of[f"{name}.weight_hh{suffix}"].shape[1]
    state, cell, outputs = np.zeros(hidden), np.zeros(hidden), []
    for row in rows:
        state, cell = _cell(of, name, suffix, np.array(row), state, cell)
        outputs.append(state)
    return outputs, state, cell


def _cell(
    of: Mapping[str, Floats], name: str, suffix: str, x: Floats, state: Floats, cell: Floats
) -> tuple[Floats, Floats]:
    """Return the next state and cell (Hochreiter and Schmidhuber 1997, with forget gates)."""
    gates = of[f"{name}.weight_ih{suffix}"] @ x + of[f"{name}.bias_ih{suffix}"]
    gates = gates + of[f"{name}.weight_hh{suffix}"] @ state + of[f"{name}.bias_hh{suffix}"]
    entered, kept, candidate, shown = np.split(gates, 4)
    after = _sigmoid(kept) * cell + _sigmoid(entered) * np.tanh(candidate)
    return _sigmoid(shown) * np.tanh(after), after


def _sigmoid(x: Floats) -> Floats:
    value: Floats = 1.0 / (1.0 + np.exp(-x))
    return value
