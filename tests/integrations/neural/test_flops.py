"""Estimates of floating-point operations, against sums that were counted by loops."""

from collections.abc import Sequence
from math import isnan, prod

import pytest

from streamplace.integrations.neural.flops import (
    ELEMENTWISE,
    FREE,
    RULES,
    Operation,
    Shape,
    estimated_flops,
    has_rule,
)


def flops(kind: str, inputs: Sequence[Shape], output: Shape, **more: object) -> float:
    """Return the estimate of an operator with one output."""
    return estimated_flops(Operation(kind, inputs, [output], **more))  # type: ignore[arg-type]


def test_a_grouped_convolution_equals_its_groups() -> None:
    """Two groups of 3 -> 4 channels; OpenVINO and ONNX write the weights differently."""
    one = flops("Convolution", [(1, 3, 9, 9), (4, 3, 5, 5)], (1, 4, 5, 5))
    assert one == 2 * prod((4, 5, 5)) * prod((3, 5, 5))
    both = (1, 6, 9, 9), (1, 8, 5, 5)
    assert flops("GroupConvolution", [both[0], (2, 4, 3, 5, 5)], both[1]) == 2 * one
    assert flops("Conv", [both[0], (8, 3, 5, 5)], both[1]) == 2 * one


def test_a_transposed_convolution_costs_as_much_as_its_counterpart() -> None:
    forward = flops("Convolution", [(1, 3, 9, 9), (4, 3, 5, 5)], (1, 4, 5, 5))
    back = [(1, 4, 5, 5), (4, 3, 5, 5)], (1, 3, 9, 9)
    assert flops("ConvolutionBackpropData", *back) == forward
    assert flops("ConvTranspose", *back) == forward
    groups = [(1, 8, 5, 5), (2, 4, 3, 5, 5)], (1, 6, 9, 9)
    assert flops("GroupConvolutionBackpropData", *groups) == 2 * forward


@pytest.mark.parametrize(
    ("left", "right", "output", "transposed", "expected"),
    [
        ((5, 7), (7, 11), (5, 11), False, 2 * 5 * 7 * 11),
        ((7, 5), (7, 11), (5, 11), True, 2 * 5 * 7 * 11),
        ((3, 5, 7), (7, 11), (3, 5, 11), False, 2 * 3 * 5 * 7 * 11),
        ((7,), (7, 11), (11,), False, 2 * 7 * 11),
        ((7,), (7,), (), False, 2 * 7),
    ],
)
def test_products(
    left: Shape, right: Shape, output: Shape, transposed: bool, expected: float
) -> None:
    assert flops("MatMul", [left, right], output, transposed=transposed) == expected


def test_an_einstein_sum_equals_the_product() -> None:
    shapes: list[Shape] = [(5, 7), (7, 11)]
    product = flops("MatMul", shapes, (5, 11))
    assert flops("Einsum", shapes, (5, 11), equation="ij, jk -> ik") == product
    assert isnan(flops("Einsum", shapes, (5, 11), equation="...j,jk->...k"))


def test_recurrent_layers_of_both_formats() -> None:
    """Two directions of an LSTM with 3 inputs and 4 units, on 2 sequences of 5 steps."""
    w, r = (2, 16, 3), (2, 16, 4)
    expected = 2 * (2 * 5) * (prod(w) + prod(r))
    state = (2, 2, 4)
    openvino: list[Shape] = [(2, 5, 3), state, state, (2,), w, r, (2, 16)]
    assert flops("LSTMSequence", openvino, (2, 2, 5, 4)) == expected
    assert flops("LSTM", [(5, 2, 3), w, r], (5, 2, 2, 4)) == expected
    cell: list[Shape] = [(2, 3), (2, 4), (2, 4), (16, 3), (16, 4)]
    assert 2 * 5 * flops("LSTMCell", cell, (2, 4)) == expected  # two directions, five steps
    gru: list[Shape] = [(2, 3), (2, 4), (12, 3), (12, 4)]
    assert flops("GRUCell", gru, (2, 4)) == 2 * 2 * (12 * 3 + 12 * 4)


def test_attention_is_its_two_products_and_a_softmax() -> None:
    query, key, value = (2, 6, 8), (2, 10, 8), (2, 10, 12)
    parts = flops("MatMul", [query, (2, 8, 10)], (2, 6, 10))
    parts += flops("Softmax", [(2, 6, 10)], (2, 6, 10))
    parts += flops("MatMul", [(2, 6, 10), value], (2, 6, 12))
    assert flops("ScaledDotProductAttention", [query, key, value], (2, 6, 12)) == parts


def test_pooling_reductions_and_elementwise_operators() -> None:
    assert flops("MaxPool", [(1, 4, 6, 6)], (1, 4, 3, 3), kernel=(2, 2)) == 4 * 6 * 6
    assert flops("ReduceMean", [(4, 6), (1,)], (4,)) == 4 * 6
    assert flops("GlobalAveragePool", [(1, 4, 6, 6)], (1, 4, 1, 1)) == 4 * 6 * 6
    assert flops("Add", [(4, 6), (6,)], (4, 6)) == 4 * 6
    assert flops("Reshape", [(4, 6), (1,)], (24,)) == 0


def test_unknown_shapes_give_unknown_costs() -> None:
    for kind in RULES.keys() - {"If", "Loop", "Scan", "TensorIterator"}:
        assert isnan(flops(kind, [None, None], None)), kind
    assert isnan(flops("Add", [None], None))
    assert isnan(flops("Loop", [(3,)], (3,)))  # its body is not counted
    assert flops("Add", [None], (0, 5)) == 0


def test_each_type_has_one_rule() -> None:
    assert not FREE & ELEMENTWISE
    assert not (FREE | ELEMENTWISE) & RULES.keys()
    assert has_rule("ReduceSum")
    assert not has_rule("MyOwnOperator")
