"""Costs of PyTorch operators."""

from collections.abc import Callable
from math import isnan, log2
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from streamplace.networks.flops import estimated_flops
from streamplace.networks.onnx import runtime as onnx_runtime
from streamplace.networks.operation import Operation
from streamplace.networks.torch.graph import from_module


class Call(nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Tensor) -> Any:
        """Return what the function returns."""
        return self.function(*inputs)


def work(function: Callable[..., Any], *inputs: Tensor) -> dict[str, float]:
    """Return the instructions of the operators of a function, by type."""
    graph = from_module(Call(function).eval(), inputs)
    found: dict[str, float] = {}
    for operator in graph.operators:
        found[str(operator.type)] = found.get(str(operator.type), 0) + operator.instructions
    return found


def counted(function: Callable[..., Any], *inputs: Tensor) -> int:
    """Return the floating-point operations that PyTorch itself counts."""
    with FlopCounterMode(display=False) as counter:
        function(*inputs)
    return int(counter.get_total_flops())


def whole(*shape: int) -> Tensor:
    """Return a tensor of ones of 8 bits."""
    return torch.ones(shape, dtype=torch.int8)


def test_integer_products_cost_as_much_as_products_of_fractions() -> None:
    x, y = whole(20, 32), whole(32, 24)
    expected = counted(torch.mm, x.float(), y.float())
    assert work(torch._int_mm, x, y) == {"_int_mm": expected}
    half, scales = torch.ones(20, 32, dtype=torch.bfloat16), torch.ones(24, dtype=torch.bfloat16)
    packed = work(torch.ops.aten._weight_int8pack_mm, half, whole(24, 32), scales)
    assert packed == {"_weight_int8pack_mm": expected}


def test_sums_of_products() -> None:
    x, y = torch.ones(3, 4, 5), torch.ones(3, 5, 6)
    expected = counted(torch.bmm, x, y)
    assert work(torch.addbmm, torch.ones(4, 6), x, y) == {"addbmm": expected}
    vector = work(torch.mv, x[0], torch.ones(5))
    assert sum(vector.values()) == pytest.approx(2 * 4 * 5, rel=0.2)


def test_a_bilinear_layer_costs_as_much_as_its_products() -> None:
    """As torch.einsum computes it: one product with all weights, then one for each output."""
    layer = nn.Bilinear(5, 7, 6, bias=False)
    x, y = torch.ones(8, 5), torch.ones(8, 7)
    assert work(layer, x, y) == {"_trilinear": 2 * 8 * 6 * 5 * 7}
    products = counted(lambda *each: torch.einsum("bn,anm,bm->ba", *each), x, layer.weight, y)
    assert products == pytest.approx(2 * 8 * 6 * 5 * 7, rel=0.25)


def test_distances_look_at_every_coordinate_of_every_pair() -> None:
    x, y = torch.ones(2, 4, 7), torch.ones(2, 6, 7)
    assert work(torch.cdist, x, y) == {"_cdist_forward": 3 * 2 * 4 * 6 * 7}
    assert work(nn.functional.pdist, x[0]) == {"_pdist_forward": 3 * 6 * 7}  # 4 rows have 6 pairs


def test_fourier_transforms() -> None:
    x = torch.ones(3, 16, 32)
    of_512 = 5 * 512 * log2(512)
    assert work(torch.fft.rfft2, x)["_fft_r2c"] == 3 * of_512 / 2
    spectrum = torch.ones(3, 16, 17, dtype=torch.complex64)
    back = work(torch.fft.irfft2, spectrum)
    assert back == {"_fft_c2r": 3 * of_512 / 2}
    assert work(torch.fft.fft2, x.to(torch.complex64))["_fft_c2c"] == 3 * of_512


def test_matrices_are_factorised_as_in_lapack() -> None:
    """Gaussian elimination divides and updates the rest in each step; an inverse is three LU."""
    n = 40
    matrix = torch.eye(n) + 1
    elimination = sum(rest + 2 * rest**2 for rest in range(n))
    (lu,) = work(torch.linalg.lu_factor, matrix).values()
    assert lu == pytest.approx(elimination, rel=0.05)
    assert work(torch.linalg.inv, matrix)["linalg_inv_ex"] == pytest.approx(3 * lu)
    (cholesky,) = work(torch.linalg.cholesky, matrix).values()
    assert cholesky == pytest.approx(lu / 2)
    (qr,) = work(torch.linalg.qr, matrix).values()
    assert qr == pytest.approx(4 * lu)  # R and Q
    solved = work(torch.linalg.solve, matrix, torch.ones(n, 3))["_linalg_solve_ex"]
    assert solved == pytest.approx(lu + 2 * n**2 * 3)
    triangular = work(
        lambda a, b: torch.linalg.solve_triangular(a, b, upper=True), matrix, torch.ones(n, 3)
    )
    assert triangular == {"linalg_solve_triangular": n**2 * 3}


def test_sorting_and_searching_compare() -> None:
    x = torch.randn(4, 64)
    assert work(lambda x: torch.sort(x)[0], x)["sort"] == 4 * 64 * 6
    stable = work(lambda x: torch.sort(x, dim=0, stable=True)[0], x)
    assert stable["sort"] == 64 * 4 * 2
    assert work(lambda x: torch.bucketize(x, torch.arange(16.0)), x)["bucketize"] == 4 * 64 * 4


def test_resampling_weighs_neighbours() -> None:
    x, grid = torch.ones(1, 3, 4, 4), torch.zeros(1, 8, 8, 2)
    sampled = work(lambda x, g: nn.functional.grid_sample(x, g, align_corners=False), x, grid)
    assert sampled["grid_sampler_2d"] == 3 * 8 * 8 * 2 * 4


def test_iterations_are_unknown() -> None:
    """Eigenvalues and singular values take as many steps as the data need."""
    found = work(lambda x: torch.linalg.svd(x)[1] + torch.linalg.eigvalsh(x), torch.eye(4))
    assert isnan(found["_linalg_svd"])
    assert isnan(found["_linalg_eigh"])
    assert found["add"] == 4


def test_other_libraries_may_state_their_work() -> None:
    """By a tag, or by a formula of PyTorch's own counter."""

    def plus(x: Tensor) -> Tensor:
        return x + 1

    def product(x: Tensor) -> Tensor:
        return x @ x

    library = torch.library.custom_op(
        "streamplace_tests::plus", plus, mutates_args=(), tags=(torch.Tag.pointwise,)
    )
    library.register_fake(torch.empty_like)
    assert work(torch.ops.streamplace_tests.plus, torch.ones(3, 3)) == {"streamplace_tests.plus": 9}
    own = torch.library.custom_op("streamplace_tests::square", product, mutates_args=())
    own.register_fake(torch.empty_like)
    target = torch.ops.streamplace_tests.square
    formulas = torch.utils.flop_counter.flop_registry
    assert isnan(work(target, torch.ones(3, 3))["streamplace_tests.square"])
    torch.utils.flop_counter.register_flop_formula(target)(
        lambda shape, out_shape=None, **_: 2 * shape[0] ** 3
    )
    try:
        assert work(target, torch.ones(3, 3)) == {"streamplace_tests.square": 54}
    finally:
        del formulas[target]


@pytest.mark.parametrize(
    ("kinds", "function", "inputs"),
    [
        ("MatMul MatMulInteger", torch.mm, [(5, 7), (7, 11)]),
        ("MatMul", torch.matmul, [(3, 5, 7), (3, 7, 11)]),
        (
            "Conv ConvInteger",
            lambda x, w: torch.conv2d(x, w, groups=2, stride=2),
            [(2, 6, 9, 9), (8, 3, 5, 5)],
        ),
        (
            "ConvTranspose",
            lambda x, w: torch.conv_transpose2d(x, w, stride=2),
            [(2, 6, 9, 9), (6, 8, 2, 2)],
        ),
        ("Einsum", lambda x, y: torch.einsum("bij,bjk->bik", x, y), [(3, 5, 7), (3, 7, 11)]),
    ],
)
def test_rules_of_files_agree_with_the_counter_of_pytorch(
    kinds: str, function: Callable[..., Tensor], inputs: list[tuple[int, ...]]
) -> None:
    tensors = [torch.ones(shape) for shape in inputs]
    operation = Operation(inputs, [tuple(function(*tensors).shape)], equation="bij,bjk->bik")
    for kind in kinds.split():
        found = estimated_flops(kind, operation, onnx_runtime.FLOPS)
        assert found == counted(function, *tensors), kind


def test_attention_of_files_is_what_pytorch_counts_and_a_softmax() -> None:
    shape = (2, 4, 6, 8)
    query = torch.ones(shape)
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        products = counted(nn.functional.scaled_dot_product_attention, query, query, query)
    softmax = 5 * 2 * 4 * 6 * 6
    found = estimated_flops("Attention", Operation([shape] * 3, [shape]), onnx_runtime.FLOPS)
    assert found == products + softmax
