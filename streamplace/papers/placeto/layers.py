"""Linear layers of small networks, forward and backward, and products in vector registers.

Matrices are stored below each other: layer l of arrays `weight`, (L * I, O), and `bias`, (L, O),
has I inputs and O outputs, in the rows from l * I on. The networks are too small for a library's
products; see `vectors`.

numba writes every partial sum back to memory, which makes loops over matrices of 8 to 32 columns
several times slower than the processor. These products are therefore given to LLVM as operations
on vectors. All matrices are in C order, and their numbers of columns are multiples of `LANES`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numba
import numpy as np
from llvmlite import ir
from numba.extending import intrinsic
from numpy.typing import NDArray

from streamplace.sim.jit import part
from streamplace.sim.kernels.numba_private import cgutils as _cgutils

LANES = 8  # numbers in a vector; LLVM splits it for processors with shorter ones
ROWS = 4  # rows whose results are computed together
Single = NDArray[np.float32]
ZERO = np.float32(0.0)
_PAIR = 2 * LANES
_types, cgutils = cast("Any", numba).types, cast("Any", _cgutils)
_VECTOR = ir.VectorType(ir.FloatType(), LANES)
_CONTRACT = ("contract",)  # a product and a sum may be one instruction, which rounds once


@part
def multiply(
    x: Any, at: int, rows: int, matrix: Any, first: int, start: Any, base: int, step: int,
    y: Any, to: int, cuts: bool,
) -> None:  # fmt: skip
    """Set rows of `y` to the product of rows of `x` and a matrix, plus rows of `start`.

    Parameters
    ----------
    at, to
        First row in `x` and in `y`.
    first
        First row of the matrix in `matrix`; it has as many rows as `x` has columns.
    base, step
        First row in `start`, and the distance to the next one: 0 adds the same row to all.
    cuts
        Whether negative results are set to 0.
    """
    columns = y.shape[1]
    pairs, fours = columns - columns % _PAIR, rows - rows % ROWS
    for r in range(0, fours, ROWS):
        for o in range(0, pairs, _PAIR):
            _four_by_two(x, at + r, matrix, first, start, base + step * r, step, y, to + r, o, cuts)
        if pairs < columns:
            _four_by_one(
                x, at + r, matrix, first, start, base + step * r, step, y, to + r, pairs, cuts
            )
    for r in range(fours, rows):
        for o in range(0, pairs, _PAIR):
            _one_by_two(x, at + r, matrix, first, start, base + step * r, step, y, to + r, o, cuts)
        if pairs < columns:
            _one_by_one(
                x, at + r, matrix, first, start, base + step * r, step, y, to + r, pairs, cuts
            )


@part
def add_outer(x: Any, of: int, rows: int, y: Any, at: int, matrix: Any, first: int) -> None:
    """Add Σ_r x_rᵀ y_r over rows of `x` and `y` to a matrix.

    Parameters
    ----------
    of, at
        First row in `x` and in `y`.
    first
        First row of the matrix in `matrix`; it has as many rows as `x` has columns.
    """
    columns = y.shape[1]
    pairs = columns - columns % _PAIR
    for i in range(0, x.shape[1], ROWS):
        for o in range(0, pairs, _PAIR):
            _outer_by_two(x, of, rows, y, at, matrix, first, i, o)
        if pairs < columns:
            _outer_by_one(x, of, rows, y, at, matrix, first, i, pairs)


def _product(rows: int, vectors: int) -> Callable[..., None]:
    """Return the product for some rows of `x` and vectors of columns, from `column` on."""

    def define(
        _context: Any, x: Any, _at: Any, matrix: Any, _first: Any, start: Any, _base: Any,
        _step: Any, y: Any, _to: Any, _column: Any, _cuts: Any,
    ) -> Any:  # fmt: skip
        size, flag = _types.intp, _types.boolean
        arguments = (x, size, matrix, size, start, size, size, y, size, size, flag)

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            x, at, matrix, first, start, base, step, y, to, column, cuts = values
            own = _Arrays(context, builder, signature.args)
            inputs = own.columns(0, x)
            x_rows = [own.entry(0, x, own.plus(at, r), _int(0)) for r in range(rows)]
            chains = 2 if rows == 1 else 1  # sums that do not wait for each other
            sums = [
                [own.vector(own.entry(4, start, own.plus(base, r, step), column), v)]
                + [_zeros()] * (chains - 1)
                for r in range(rows)
                for v in range(vectors)
            ]
            kept = [[own.kept(value) for value in each] for each in sums]
            corner, width = own.entry(2, matrix, first, column), own.columns(2, matrix)
            with cgutils.for_range_slice(builder, _int(0), inputs, _int(chains)) as (i, _):
                for chain in range(chains):
                    k = own.plus(i, chain)
                    line = builder.gep(corner, [builder.mul(k, width)])
                    entries = [own.vector(line, v) for v in range(vectors)]
                    for r in range(rows):
                        factor = own.repeated(builder.gep(x_rows[r], [k]))
                        for v in range(vectors):
                            own.add(kept[r * vectors + v][chain], factor, entries[v])
            for r in range(rows):
                line = own.entry(7, y, own.plus(to, r), column)
                for v in range(vectors):
                    total = own.total(kept[r * vectors + v])
                    is_positive = builder.fcmp_ordered(">", total, _zeros())
                    cut = builder.select(is_positive, total, _zeros())
                    own.store(builder.select(cuts, cut, total), line, v)
            return context.get_dummy_value()

        return _types.void(*arguments), generate

    return cast("Callable[..., None]", intrinsic(define))


def _outer(vectors: int) -> Callable[..., None]:
    """Return the outer product for `ROWS` columns of `x` and vectors of columns of `y`."""

    def define(
        _context: Any, x: Any, _of: Any, _rows: Any, y: Any, _at: Any, matrix: Any, _first: Any,
        _row: Any, _column: Any,
    ) -> Any:  # fmt: skip
        size = _types.intp
        arguments = (x, size, size, y, size, matrix, size, size, size)

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            x, of, rows, y, at, matrix, first, row, column = values
            own = _Arrays(context, builder, signature.args)
            top = builder.add(first, row)
            lines = [own.entry(5, matrix, own.plus(top, i), column) for i in range(ROWS)]
            kept = [own.kept(own.vector(line, v)) for line in lines for v in range(vectors)]
            x_corner, x_width = own.entry(0, x, of, row), own.columns(0, x)
            y_corner, y_width = own.entry(3, y, at, column), own.columns(3, y)
            with cgutils.for_range(builder, rows) as loop:
                y_line = builder.gep(y_corner, [builder.mul(loop.index, y_width)])
                x_line = builder.gep(x_corner, [builder.mul(loop.index, x_width)])
                entries = [own.vector(y_line, v) for v in range(vectors)]
                for i in range(ROWS):
                    factor = own.repeated(builder.gep(x_line, [_int(i)]))
                    for v in range(vectors):
                        own.add(kept[i * vectors + v], factor, entries[v])
            for i, line in enumerate(lines):
                for v in range(vectors):
                    own.store(builder.load(kept[i * vectors + v]), line, v)
            return context.get_dummy_value()

        return _types.void(*arguments), generate

    return cast("Callable[..., None]", intrinsic(define))


class _Arrays:
    """The instructions that read and write arrays by vectors.

    Parameters
    ----------
    context, builder
        What numba passes to the code of an intrinsic.
    kinds
        The types of all arguments.
    """

    def __init__(self, context: Any, builder: Any, kinds: Any) -> None:
        self._context, self._builder, self._kinds = context, builder, kinds

    def plus(self, value: Any, count: int, unit: Any = None) -> Any:
        """Return an index plus a number of units, which are 1 by default."""
        added = _int(count) if unit is None else self._builder.mul(unit, _int(count))
        return self._builder.add(value, added)

    def columns(self, argument: int, value: Any) -> Any:
        """Return the number of columns of an argument."""
        return cgutils.unpack_tuple(self._builder, self._array(argument, value).shape, 2)[1]

    def entry(self, argument: int, value: Any, row: Any, column: Any) -> Any:
        """Return the address of an entry of an argument."""
        index = self._builder.add(self._builder.mul(row, self.columns(argument, value)), column)
        return self._builder.gep(self._array(argument, value).data, [index])

    def vector(self, line: Any, number: int) -> Any:
        """Return one of the vectors from an address on."""
        return self._builder.load(self._address(line, number), align=4)

    def store(self, value: Any, line: Any, number: int) -> None:
        """Store one of the vectors from an address on."""
        self._builder.store(value, self._address(line, number), align=4)

    def repeated(self, address: Any) -> Any:
        """Return a vector whose numbers all are the one at an address."""
        index = ir.VectorType(ir.IntType(32), LANES)
        nothing = ir.Constant(_VECTOR, ir.Undefined)
        one = ir.Constant(ir.IntType(32), 0)
        single = self._builder.insert_element(nothing, self._builder.load(address), one)
        return self._builder.shuffle_vector(single, nothing, ir.Constant(index, [0] * LANES))

    def kept(self, value: Any) -> Any:
        """Return a variable for a vector; LLVM keeps it in a register."""
        variable = cgutils.alloca_once(self._builder, _VECTOR)
        self._builder.store(value, variable)
        return variable

    def add(self, variable: Any, one: Any, other: Any) -> None:
        """Add the product of two vectors to a variable."""
        product = self._builder.fmul(one, other, flags=_CONTRACT)
        total = self._builder.fadd(self._builder.load(variable), product, flags=_CONTRACT)
        self._builder.store(total, variable)

    def total(self, variables: list[Any]) -> Any:
        """Return the sum of variables."""
        values = [self._builder.load(variable) for variable in variables]
        total = values[0]
        for value in values[1:]:
            total = self._builder.fadd(total, value)
        return total

    def _array(self, argument: int, value: Any) -> Any:
        return self._context.make_array(self._kinds[argument])(self._context, self._builder, value)

    def _address(self, line: Any, number: int) -> Any:
        start = self._builder.gep(line, [_int(number * LANES)])
        return self._builder.bitcast(start, _VECTOR.as_pointer())


def _int(value: int) -> Any:
    return ir.Constant(ir.IntType(64), value)


def _zeros() -> Any:
    return ir.Constant(_VECTOR, [0.0] * LANES)


_four_by_two, _four_by_one = _product(ROWS, 2), _product(ROWS, 1)
_one_by_two, _one_by_one = _product(1, 2), _product(1, 1)
_outer_by_two, _outer_by_one = _outer(2), _outer(1)


class Layers(NamedTuple):
    """L layers with I inputs and O outputs each."""

    weight: Single  # (L * I, O)
    bias: Single  # (L, O)
    turned: Single  # (L * O, I), the transposed matrices


@part
def affine(
    x: Single, at: int, rows: int, layers: Layers, layer: int, y: Single, to: int, relu: bool
) -> None:
    """Set rows of `y` to a linear layer of rows of `x`, after which `relu` cuts them at 0."""
    first = layer * x.shape[1]
    multiply(x, at, rows, layers.weight, first, layers.bias, layer, 0, y, to, relu)


@part
def cut(change: Single, at: int, rows: int, y: Single, to: int) -> None:
    """Clear the gradient where a ReLU returned 0."""
    for r in range(rows):
        for o in range(y.shape[1]):
            kept = change[at + r, o]  # stored always, so that the compiler vectorises the loop
            change[at + r, o] = kept if y[to + r, o] > ZERO else ZERO


@part
def affine_back(
    change: Single, at: int, rows: int, x: Single, of: int, gradient: Layers, layer: int
) -> None:
    """Add the gradient of a layer's weights, from that of its outputs and its inputs.

    Parameters
    ----------
    change, at
        Gradient of the outputs, and its first row.
    x, of
        Inputs, and their first row.
    """
    first = layer * x.shape[1]
    for r in range(rows):
        for o in range(change.shape[1]):
            gradient.bias[layer, o] += change[at + r, o]
    add_outer(x, of, rows, change, at, gradient.weight, first)


@part
def inputs_back(
    change: Single, at: int, rows: int, layers: Layers, layer: int, to_inputs: Single, to: int
) -> None:
    """Add the gradient of a layer's inputs to rows of `to_inputs`."""
    first = layer * change.shape[1]
    multiply(change, at, rows, layers.turned, first, to_inputs, to, 1, to_inputs, to, False)


@part
def clear(x: Single, at: int, rows: int) -> None:
    """Set rows to 0."""
    for r in range(at, at + rows):
        for i in range(x.shape[1]):
            x[r, i] = ZERO
