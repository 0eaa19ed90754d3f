"""Rules for floating-point operations, against sums that were counted by loops."""

from collections.abc import Sequence
from itertools import product
from math import isnan, log2, prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamplace.networks import openvino
from streamplace.networks.flops import estimated_flops
from streamplace.networks.onnx import runtime as onnx_runtime
from streamplace.networks.operation import ABSENT, Operation, Shape

ALL = {**openvino.FLOPS, **onnx_runtime.FLOPS}
"""The rules of both formats; DFT and STFT are those of ONNX."""


def flops(kind: str, inputs: Sequence[Shape], output: Shape, **more: object) -> float:
    """Return the work of an operator with one output."""
    return estimated_flops(kind, Operation(inputs, [output], **more), ALL)  # type: ignore[arg-type]


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
    assert (
        flops("Einsum", [(3, 5, 7), (7, 11)], (3, 5, 11), equation="...j,jk->...k") == 3 * product
    )
    assert flops("Einsum", [(5, 7), (7, 11)], (5, 11), equation="ij,jk") == product
    assert isnan(flops("Einsum", shapes, (5, 11), equation="ijk,jk->ik"))


def test_an_einstein_sum_joins_its_factors_from_left_to_right() -> None:
    """Of a bilinear form, the first product is over all four indices, the second over three."""
    shapes: list[Shape] = [(8, 5), (6, 5, 7), (8, 7)]
    found = flops("Einsum", shapes, (8, 6), equation="bn,anm,bm->ba")
    assert found == 2 * (8 * 5 * 6 * 7) + 2 * (8 * 6 * 7)
    assert flops("Einsum", [(4,), (5,)], (4, 5), equation="i,j->ij") == 4 * 5  # nothing is summed
    assert flops("Einsum", [(4, 5)], (5, 4), equation="ij->ji") == 4 * 5


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


def test_products_of_whole_numbers_cost_as_much_as_those_of_fractions() -> None:
    scalar: Shape = ()
    image, weights, result = (1, 6, 9, 9), (8, 3, 5, 5), (1, 8, 5, 5)
    convolution = flops("Conv", [image, weights], result)
    assert flops("ConvInteger", [image, weights], result) == convolution
    quantised = [image, scalar, scalar, weights, *[scalar] * 4]
    assert flops("QLinearConv", quantised, result) == convolution
    product_ = flops("MatMul", [(5, 7), (7, 11)], (5, 11))
    assert flops("MatMulInteger", [(5, 7), (7, 11)], (5, 11)) == product_
    quantised = [(5, 7), scalar, scalar, (7, 11), *[scalar] * 4]
    assert flops("QLinearMatMul", quantised, (5, 11)) == product_
    packed = [(5, 7), (11, 1, 4), (11,)]
    assert flops("com.microsoft.MatMulNBits", packed, (5, 11)) == product_


def test_attention_of_onnx_packs_heads_and_has_a_cache() -> None:
    """4 heads of size 8 and values of size 6; queries 5, keys 7, which follow 3 cached ones."""
    separate: list[Shape] = [(2, 4, 5, 8), (2, 4, 7, 8), (2, 4, 7, 6)]
    expected = flops("ScaledDotProductAttention", separate, (2, 4, 5, 6))
    assert flops("Attention", separate, (2, 4, 5, 6)) == expected
    heads = {"q_num_heads": 4, "kv_num_heads": 4}
    packed: list[Shape] = [(2, 5, 32), (2, 7, 32), (2, 7, 24)]
    assert flops("Attention", packed, (2, 5, 24), numbers=heads) == expected
    shared: list[Shape] = [(2, 5, 32), (2, 7, 16), (2, 7, 12)]  # two heads of keys and values
    heads = {"q_num_heads": 4, "kv_num_heads": 2}
    assert flops("Attention", shared, (2, 5, 24), numbers=heads) == expected
    cached: list[Shape] = [*separate, ABSENT, (2, 4, 3, 8), (2, 4, 3, 6)]
    assert flops("Attention", cached, (2, 4, 5, 6)) == expected * 10 / 7
    assert isnan(flops("Attention", [*separate, ABSENT, None], (2, 4, 5, 6)))
    assert isnan(flops("Attention", packed, (2, 5, 24)))


def test_attention_of_onnx_runtime_projects_its_input() -> None:
    """3 heads of size 4 of an input of size 10: one product of 10 x 36, then attention."""
    found = flops(
        "com.microsoft.Attention", [(2, 5, 10), (10, 36)], (2, 5, 12), numbers={"num_heads": 3}
    )
    head: Shape = (2, 3, 5, 4)
    attention = flops("ScaledDotProductAttention", [head] * 3, head)
    assert found == flops("MatMul", [(2, 5, 10), (10, 36)], (2, 5, 36)) + attention


def test_fourier_transforms_have_the_work_by_which_fftw_states_speeds() -> None:
    """5 N log2 N for complex numbers, half of it for real ones."""
    of_512 = 5 * 512 * log2(512)
    assert flops("DFT", [(3, 512, 2)], (3, 512, 2)) == 3 * of_512
    assert flops("DFT", [(3, 512, 1)], (3, 257, 2), numbers={"axis": 1}) == 3 * of_512 / 2
    assert flops("DFT", [(3, 257, 2)], (3, 512, 1)) == 3 * of_512 / 2
    assert flops("DFT", [(512, 4, 2)], (512, 4, 2), numbers={"axis": 0}) == 4 * of_512
    assert flops("IDFT", [(3, 512, 2), (1,)], (3, 512, 2)) == 3 * of_512
    assert flops("RDFT", [(3, 16, 32), (2,)], (3, 16, 17, 2)) == 3 * of_512 / 2
    assert flops("IRDFT", [(3, 257, 2), (1,)], (3, 512)) == 3 * of_512 / 2
    assert flops("com.microsoft.Rfft", [(3, 512)], (3, 257, 2)) == 3 * of_512 / 2
    frames = 7 * (of_512 / 2 + 512)  # each is multiplied by the window
    of_onnx = onnx_runtime.FLOPS["STFT"](Operation([(1, 4000), (), (512,)], [(1, 7, 257, 2)]))
    of_openvino = openvino.FLOPS["STFT"](Operation([(1, 4000), (512,)], [(1, 7, 257, 2)]))
    assert of_onnx == of_openvino == frames
    assert flops("ISTFT", [(1, 257, 7, 2), (512,)], (1, 4000)) == frames


def test_factorisations() -> None:
    """An LU factorisation by Gaussian elimination: each step divides and updates the rest."""
    size = 30
    counted = sum(rest + 2 * rest**2 for rest in range(size))
    assert flops("Det", [(4, size, size)], (4,)) == pytest.approx(4 * counted, rel=0.05)
    inverse = flops("Inverse", [(4, size, size)], (4, size, size))
    assert inverse == 3 * flops("Det", [(4, size, size)], (4,))


def test_resampling_weighs_the_neighbours_along_the_axes_that_change() -> None:
    sizes: Shape = (1, 3, 8, 8)
    for kind, nearest in product(("Resize", "Interpolate"), (True, False)):
        mode = "nearest" if nearest else "linear"
        found = flops(kind, [(1, 3, 4, 4)], sizes, mode=mode)
        assert found == 3 * 8 * 8 * (1 if nearest else 2 * 4)
    assert flops("Resize", [(1, 3, 4, 8)], sizes, mode="cubic") == 3 * 8 * 8 * 2 * 4
    assert flops("GridSample", [(1, 3, 4, 4), (1, 8, 8, 2)], sizes) == 3 * 8 * 8 * 2 * 4


def test_operators_of_several_inputs_combine_all_of_them() -> None:
    assert flops("Sum", [(4, 6)] * 5, (4, 6)) == 4 * (4 * 6)
    assert flops("com.microsoft.CDist", [(4, 7), (6, 7)], (4, 6)) == 3 * 4 * 6 * 7
    assert flops("EmbeddingBagPackedSum", [(100, 8), (3, 5)], (3, 8)) == 3 * 5 * 8
    assert flops("Bucketize", [(4, 6), (16,)], (4, 6)) == 4 * 6 * log2(16)
    assert flops("LRN", [(1, 4, 3, 3)], (1, 4, 3, 3), numbers={"size": 5}) == 36 * (2 * 5 + 4)


def test_unknown_shapes_give_unknown_costs() -> None:
    for kind, rule in ALL.items():
        operation = Operation([None] * 10, [None])
        assert rule(operation) == 0 or isnan(rule(operation)), kind
    assert flops("Add", [None], (0, 5)) == 0


SHAPES = st.lists(
    st.none() | st.lists(st.sampled_from([0, 1, 2, 5, 10**18]), max_size=5).map(tuple), max_size=9
)
NUMBERS = st.dictionaries(
    st.sampled_from(["axis", "num_heads", "q_num_heads", "kv_num_heads", "size", "signal_ndim"]),
    st.sampled_from([-3, 0, 1, 2, 10**18]),
)


@settings(max_examples=60, deadline=None)
@given(SHAPES, SHAPES, NUMBERS, st.sampled_from(["", "linear", "cubic"]))
def test_rules_accept_whatever_shapes_a_file_states(
    inputs: list[Shape], outputs: list[Shape], numbers: dict[str, int], mode: str
) -> None:
    operation = Operation(inputs, outputs, mode=mode, numbers=numbers, equation="ab...,bc->a...")
    for rule in {*onnx_runtime.FLOPS.values(), *openvino.FLOPS.values()}:
        assert isinstance(float(rule(operation)), float)


@pytest.mark.parametrize("kind", ["Loop", "If", "TensorIterator", "NonMaxSuppression", "MyOwn"])
def test_types_without_a_rule_have_unknown_costs(kind: str) -> None:
    """Bodies and numbers of candidates are not counted, and other types are not known at all."""
    assert isnan(flops(kind, [(3,)], (3,)))
