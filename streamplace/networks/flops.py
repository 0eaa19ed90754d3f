"""Numbers of floating-point operations of operators, from their shapes.

A multiplication and an addition are one operation each, also of whole numbers, and so are
functions such as exp and tanh. They are NaN where a shape is unknown.
"""

from collections.abc import Callable, Mapping

from streamplace.networks import formulas
from streamplace.networks.operation import ABSENT, Operation, elements
from streamplace.problem.graph import UNKNOWN

Flops = Callable[[Operation], float]
FlopsByType = Mapping[str, Flops]
"""Type -> the function that returns its floating-point operations."""
MAX_AXES = 8
"""Axes along which an operator looks at neighbours; tensors have fewer."""
SOFTMAX = 5  # maximum, difference, exp, sum and quotient


def estimated_flops(kind: str, operation: Operation, by_type: FlopsByType) -> float:
    """Return the floating-point operations of one run of an operator.

    The number is NaN if it is unknown: where a type has no function, and where a shape that it
    needs is unknown.
    """
    return by_type[kind](operation) if kind in by_type else UNKNOWN


def table(names: str, flops: Flops) -> dict[str, Flops]:
    """Return one function for several types, whose names are separated by spaces."""
    return dict.fromkeys(names.split(), flops)


def free(operation: Operation) -> float:
    """Return that nothing is computed or moved."""
    return 0.0


def elementwise(operation: Operation) -> float:
    """Return one operation for each element emitted."""
    return operation.emitted


def times(count: float) -> Flops:
    """Return the function that counts `count` operations for each element of the first output."""
    return lambda operation: count * elements(operation.output(0))


def reading(operation: Operation) -> float:
    """Return one operation for each element of the first input, such as of a sum."""
    return operation.read


def joining(operation: Operation) -> float:
    """Return the operations that combine any number of inputs element by element."""
    return operation.emitted * max(1, len(operation.inputs) - 1)


softmax = times(SOFTMAX)


def pooling(operation: Operation) -> float:
    """Return one operation for each element of the window of each result."""
    return elements(operation.output(0)) * elements(tuple(operation.kernel))


def resizing(operation: Operation) -> float:
    """Return the work of interpolation along the axes whose sizes change."""
    before, after = operation.input(0), operation.output(0)
    if before is None or after is None or len(before) != len(after):
        return UNKNOWN
    changed = sum(a != b for a, b in zip(before, after, strict=True))
    return formulas.resampling(_taps(operation.mode, changed), elements(after))


def sampling(operation: Operation) -> float:
    """Return the work of interpolation at the points of a grid, (…, axes)."""
    grid = operation.input(1)
    if not grid:
        return UNKNOWN
    taps = _taps(operation.mode or "linear", grid[-1])
    return formulas.resampling(taps, elements(operation.output(0)))


def _taps(mode: str, axes: int) -> float:
    """Return how many elements a result is a weighted sum of; NaN for an absurd number of axes."""
    if axes > MAX_AXES:
        return UNKNOWN
    if mode.startswith(("linear", "bilinear")):
        return 2.0**axes
    return 4.0**axes if "cubic" in mode else 1.0


def convolution(outputs_from: int = 1, weights: int = 1) -> Flops:
    """Return the function for a convolution.

    Parameters
    ----------
    outputs_from
        The axis of the weights before which their output channels end.
    weights
        Index of the input with the weights.
    """

    def flops(operation: Operation) -> float:
        shape = operation.input(weights)
        if shape is None:
            return UNKNOWN
        return 2.0 * elements(operation.output(0)) * elements(shape[outputs_from:])

    return flops


def transposed_convolution(inputs_from: int = 1) -> Flops:
    """Return the function for a transposed convolution: each input element meets the weights."""

    def flops(operation: Operation) -> float:
        weights = operation.input(1)
        if weights is None:
            return UNKNOWN
        return 2.0 * operation.read * elements(weights[inputs_from:])

    return flops


def product(operation: Operation) -> float:
    """Return the work of the product of two matrices, or of a vector and a matrix."""
    left = operation.input(0)
    if left is None:
        return UNKNOWN
    if not left:
        return elements(operation.output(0))
    inner = left[-2] if operation.transposed and len(left) > 1 else left[-1]
    return 2.0 * elements(operation.output(0)) * inner


def recurrent(weights: int) -> Flops:
    """Return the function for a recurrent layer, from the index of its first two weights."""

    def flops(operation: Operation) -> float:
        first, second = (elements(operation.input(i)) for i in (weights, weights + 1))
        sequence = operation.input(0)
        return UNKNOWN if sequence is None else 2.0 * elements(sequence[:-1]) * (first + second)

    return flops


def attention(operation: Operation) -> float:
    """Return the work of softmax(Q Kᵀ) V for Q of (…, L, E), K of (…, S, E) and V of (…, S, F)."""
    query, key, value = (operation.input(i) for i in range(3))
    if not (query and key and value) or min(map(len, (query, key, value))) < 2:  # noqa: PLR2004 - axes
        return UNKNOWN
    return heads_attention(elements(query[:-1]), key[-2], query[-1], value[-1])


def heads_attention(queries: float, keys: float, size: float, value_size: float) -> float:
    """Return the work of attention.

    Parameters
    ----------
    queries
        Number of queries over all samples and heads.
    keys
        Number of keys that each query meets.
    size, value_size
        Elements of a key and of a value.
    """
    return queries * keys * (2.0 * size + 2.0 * value_size + SOFTMAX)


def onnx_attention(operation: Operation) -> float:
    """Return the work of ONNX's Attention, whose keys follow those of an optional cache.

    Shapes: (N, heads, L, E), or (N, L, heads · E) with ``q_num_heads`` and ``kv_num_heads``; the
    cache, the fifth input, (N, heads, P, E).
    """
    query, key, value = (operation.input(i) for i in range(3))
    past = operation.inputs[4] if len(operation.inputs) > 4 else ABSENT  # noqa: PLR2004 - its position
    if not (query and key and value) or len(key) < 2 or past is None:  # noqa: PLR2004 - axes
        return UNKNOWN
    keys = key[-2] + (past[-2] if len(past) > 1 else 0)
    if len(query) == 4:  # noqa: PLR2004 - samples, heads, length, size
        return heads_attention(elements(query[:-1]), keys, query[-1], value[-1])
    heads = operation.numbers.get("q_num_heads", 0)
    of_values = operation.numbers.get("kv_num_heads", 0)
    if not (heads and of_values):
        return UNKNOWN
    queries = elements(query[:-1]) * heads
    return heads_attention(queries, keys, query[-1] / heads, value[-1] / of_values)


def projected_attention(operation: Operation) -> float:
    """Return the work of attention that first forms query, key and value of its input.

    Shapes: the input (N, L, D) and weights (D, 3 H) of ONNX Runtime's Attention.
    """
    rows, weights = operation.input(0), operation.input(1)
    heads = operation.numbers.get("num_heads", 0)
    if not (rows and weights) or len(rows) != 3 or not heads:  # noqa: PLR2004 - axes
        return UNKNOWN
    size = weights[-1] / 3 / heads
    scores = heads_attention(elements(rows[:-1]) * heads, rows[-2], size, size)
    return 2.0 * elements(rows) * weights[-1] + scores


def einstein_sum(operation: Operation) -> float:
    """Return the work of an Einstein sum whose factors are multiplied from left to right.

    A pair of factors takes a multiplication for each combination of its indices, and an addition if
    an index is summed.
    """
    left, _, right = operation.equation.replace(" ", "").partition("->")
    terms: list[str] = []
    size: dict[str, int] = {}
    for i, term in enumerate(left.split(",")):
        shape = operation.input(i)
        axes = None if shape is None else _axes(term, len(shape))
        if shape is None or axes is None or len(axes) != len(shape):
            return UNKNOWN
        terms.append(axes)
        for axis, count in zip(axes, shape, strict=True):
            size[axis] = max(size.get(axis, 1), count)
    if "->" in operation.equation:
        kept = {*right}
    else:
        kept = {axis for axis in size if sum(term.count(axis) for term in terms) == 1}
    kept |= {axis for axis in size if axis.isdigit()}
    work, joined = 0.0, {*terms[0]}
    for i, term in enumerate(terms[1:], 2):
        joined |= {*term}
        needed = joined & {*kept, *"".join(terms[i:])}
        work += (1 if needed == joined else 2) * elements(tuple(size[axis] for axis in joined))
        joined = needed
    return work or elements(tuple(size.values()))


def _axes(term: str, count: int) -> str | None:
    """Return the indices of a factor; digits stand for the axes of an ellipsis."""
    named = term.replace("...", "")
    more = count - len(named)
    if "..." not in term:
        return term
    digits = "0123456789"
    return term.replace("...", digits[len(digits) - more :]) if 0 <= more <= len(digits) else None


def fourier(operation: Operation) -> float:
    """Return the work of ONNX's DFT, along one axis.

    Shapes: (…, 2) of complex numbers and (…, 1) of real ones, for both input and output.
    """
    signal, found = operation.input(0), operation.output(0)
    axis = operation.numbers.get("axis", -2)
    if not signal or not found or not -len(signal) <= axis < len(signal) == len(found):
        return UNKNOWN
    length = max(signal[axis], found[axis])  # one side of a spectrum is shorter than the signal
    count = min(elements(shape[:-1]) / max(shape[axis], 1) for shape in (signal, found))
    return formulas.fourier(length, count, real=1 in (signal[-1], found[-1]))


def last_axes_fourier(operation: Operation) -> float:
    """Return the work of the Fourier transforms of OpenVINO, as if along the last axes.

    The file has the number of axes, but not which they are. Shapes: (…, 2) of complex numbers and
    (…) of real ones, and (axes,).
    """
    axes = operation.input(1)
    return _spectrum(operation, axes[0]) if axes else UNKNOWN


def signal_fourier(operation: Operation) -> float:
    """Return the work of the Fourier transforms of ONNX Runtime, along ``signal_ndim`` axes."""
    return _spectrum(operation, operation.numbers.get("signal_ndim", 1))


def _spectrum(operation: Operation, axes: int) -> float:
    signal, found = operation.input(0), operation.output(0)
    if not signal or not found:
        return UNKNOWN
    real = len(signal) != len(found)
    shape = min(signal, found, key=len) if real else signal[:-1]
    first = max(len(shape) - axes, 0)
    return formulas.fourier(elements(shape[first:]), elements(shape[:first]), real=real)


def short_time_fourier(window: int, *, inverse: bool = False) -> Flops:
    """Return the function for the spectra of frames: the window's product and a transform for each.

    Parameters
    ----------
    window
        Index of the input with the window.
    inverse
        Whether the spectra are the input.
    """

    def flops(operation: Operation) -> float:
        length = (operation.input(window) or (0,))[-1]
        one_side = operation.numbers.get("onesided", 1)
        if not length:
            return UNKNOWN
        spectra = operation.input(0) if inverse else operation.output(0)
        frames = elements(spectra) / 2 / (length // 2 + 1 if one_side else length)
        return formulas.fourier(length, frames, real=bool(one_side)) + length * frames

    return flops


def distances(operation: Operation) -> float:
    """Return the work of the distances between the rows of two matrices."""
    left = operation.input(0)
    return formulas.distances(elements(operation.output(0)), left[-1]) if left else UNKNOWN


def per_matrix(formula: Callable[[float], float]) -> Flops:
    """Return the function for an algorithm on each of the square matrices of the first input."""

    def flops(operation: Operation) -> float:
        matrices = operation.input(0)
        return elements(matrices[:-2]) * formula(matrices[-1]) if matrices else UNKNOWN

    return flops


def local_normalisation(operation: Operation) -> float:
    """Return the work of dividing by a power of a sum of squares over a window."""
    axes = (operation.input(1) or (1,))[0]
    if axes > MAX_AXES:
        return UNKNOWN
    window = float(operation.numbers.get("size", 1)) ** axes
    return operation.read * (2.0 * window + 4)  # scale, sum, power and quotient


def regions(operation: Operation) -> float:
    """Return the work of averages of bilinear samples, whose number may depend on the data."""
    ratio = operation.numbers.get("sampling_ratio", 0)
    samples = elements(operation.output(0)) * ratio**2
    return formulas.resampling(4, samples) if ratio > 0 else UNKNOWN


def bags(operation: Operation) -> float:
    """Return one operation for each element of the rows of a table that are summed."""
    rows = operation.input(0)
    return elements(operation.input(1)) * elements(rows[1:]) if rows else UNKNOWN


def binary_search(boundaries: int) -> Flops:
    """Return the function for binary searches, from the index of the input that is searched."""

    def flops(operation: Operation) -> float:
        searched = operation.input(boundaries)
        count = elements(operation.output(0))
        return formulas.search(searched[-1], count) if searched else UNKNOWN

    return flops
