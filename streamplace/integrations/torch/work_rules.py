"""Rules for the floating-point operations of PyTorch's operators that `flop_counter` lacks.

A rule takes the arguments of a call, with tensors without data, and the first tensor that it
returns. A multiplication and an addition are two operations, as in `torch.utils.flop_counter`.
"""

from collections.abc import Callable
from math import prod
from typing import Any

import torch

from streamplace.integrations.neural import formulas

Rule = Callable[[Any, torch.Tensor], Any]
"""A rule; what it returns is a number."""


def _product(matrix: int = 0) -> Rule:
    """Return the rule of a product, from the position of its first factor, (…, rows, inner)."""
    return lambda args, out: 2.0 * out.numel() * args[matrix].shape[-1]


def _grouped_product(args: Any, out: torch.Tensor) -> Any:
    """Return the work of one product for each group of rows, of columns or of inner indices."""
    left, right = args[:2]
    if left.dim() == right.dim() == 2:  # noqa: PLR2004 - the groups share the inner indices
        return 2.0 * left.numel() * right.shape[-1]
    return 2.0 * out.numel() * left.shape[-1]


def _summed_products(args: Any, out: torch.Tensor) -> Any:
    left, right = args[1:3]
    return 2.0 * left.numel() * right.shape[-1]


def _trilinear(args: Any, out: torch.Tensor) -> Any:
    """Return the work of the sum of products of three factors, such as of `nn.Bilinear`.

    The factors get new axes of size 1 and are broadcast. The first two are multiplied and summed as
    a product of matrices would be, and so is their result with the third.
    """
    factors = list(args[:3])
    for i, axes in enumerate(args[3:6]):
        for axis in sorted(axes):
            factors[i] = factors[i].unsqueeze(axis)
    return 2.0 * prod(map(max, *(factor.shape for factor in factors)))


def _weighted(weights: int) -> Rule:
    """Return the rule of a convolution, from the position of its weights, (outputs, …)."""
    return lambda args, out: 2.0 * out.numel() * prod(args[weights].shape[1:])


def _distances(args: Any, out: torch.Tensor) -> Any:
    return formulas.distances(out.numel(), args[0].shape[-1])


def _fourier(*, real: bool, of_result: bool = False) -> Rule:
    """Return the rule of a Fourier transform: the second argument has its axes."""

    def rule(args: Any, out: torch.Tensor) -> Any:
        signal = out if of_result else args[0]
        length = prod(signal.shape[axis] for axis in args[1])
        return formulas.fourier(length, signal.numel() / max(length, 1), real=real)

    return rule


def _sampled(axes: int) -> Rule:
    """Return the rule of `grid_sampler`; its third argument is linear, nearest or cubic."""
    return lambda args, out: formulas.resampling((2, 1, 4)[args[2]] ** axes, out.numel())


def _resampled(taps: int) -> Rule:
    return lambda args, out: formulas.resampling(taps, out.numel())


def _bags(args: Any, out: torch.Tensor) -> Any:
    """Return one operation for each element of the rows of a table that are summed."""
    return float(args[1].numel() * args[0].shape[-1])


def _sort(args: Any, out: torch.Tensor) -> Any:
    """Return the comparisons; the variant that may be stable has its axis as third argument."""
    axis = args[1] if type(args[1]) is int else args[2]
    length = out.shape[axis] if out.dim() else 1
    return formulas.sorting(length, out.numel() / max(length, 1))


def _searches(boundaries: int) -> Rule:
    """Return the rule of binary searches, from the position of what is searched."""
    return lambda args, out: formulas.search(args[boundaries].shape[-1], out.numel())


def _per_matrix(formula: Callable[[float, float], float]) -> Rule:
    """Return the rule of an algorithm on each matrix of the first argument, (…, rows, columns)."""

    def rule(args: Any, out: torch.Tensor) -> Any:
        *batch, rows, columns = args[0].shape
        return prod(batch) * formula(rows, columns)

    return rule


def _qr(args: Any, out: torch.Tensor) -> Any:
    """Return the work of R and, unless only R is asked for, of Q."""
    return (1 if args[1] == "r" else 2) * _per_matrix(formulas.householder)(args, out)


def _solution(triangles: int, matrix: int = 0) -> Rule:
    """Return the rule of solving with triangular matrices.

    Parameters
    ----------
    triangles
        Number of triangular matrices, one after the other.
    matrix
        Position of the argument that has them.
    """

    def rule(args: Any, out: torch.Tensor) -> Any:
        return triangles * formulas.substitution(args[matrix].shape[-1], out.numel())

    return rule


def _lu_solution(args: Any, out: torch.Tensor) -> Any:
    return _per_matrix(formulas.lu)(args, out) + _solution(2)(args, out)


_SQUARE = _per_matrix(lambda rows, columns: formulas.cholesky(rows))
RULES: dict[str, Rule] = {
    **dict.fromkeys(
        (
            "_int_mm", "_mixed_dtypes_linear", "_scaled_mm_v2", "_weight_int4pack_mm",
            "_weight_int4pack_mm_for_cpu", "_weight_int4pack_mm_with_scales_and_zeros",
            "_weight_int8pack_mm", "_dyn_quant_matmul_4bit", "linear", "matmul", "mkldnn_linear",
            "dot", "mv", "vdot", "quantized_decomposed.mixed_linear",
            "quantized_decomposed.mixed_mm", "quantized.linear", "quantized.linear_dynamic",
            "quantized.linear_relu",
        ),
        _product(),
    ),
    **dict.fromkeys(("addmv", "_addmm_activation"), _product(1)),
    **dict.fromkeys(
        ("_grouped_mm", "_scaled_grouped_mm", "_scaled_grouped_mm_v2"), _grouped_product
    ),
    "addbmm": _summed_products,
    "_trilinear": _trilinear,
    **dict.fromkeys(
        (
            "_conv_depthwise2d", "conv_depthwise3d", "mkldnn_convolution",
            "torchvision.deform_conv2d",
        ),
        _weighted(1),
    ),
    "conv_tbc": lambda args, out: 2.0 * out.numel() * prod(args[1].shape[:2]),
    "_fft_r2c": _fourier(real=True),
    "_fft_c2r": _fourier(real=True, of_result=True),
    "_fft_c2c": _fourier(real=False),
    **dict.fromkeys(("_cdist_forward", "_pdist_forward"), _distances),
    "grid_sampler_2d": _sampled(2),
    "grid_sampler_3d": _sampled(3),
    "upsample_linear1d": _resampled(2),
    "upsample_bilinear2d": _resampled(4),
    "upsample_trilinear3d": _resampled(8),
    "upsample_bicubic2d": _resampled(16),
    **dict.fromkeys(("_embedding_bag", "_embedding_bag_forward_only"), _bags),
    "quantized_decomposed.embedding_byte": lambda args, out: float(out.numel()),
    "sort": _sort,
    "bucketize": _searches(1),
    "searchsorted": _searches(0),
    **dict.fromkeys(
        ("linalg_lu", "linalg_lu_factor_ex", "_linalg_det", "_linalg_slogdet"),
        _per_matrix(formulas.lu),
    ),
    **dict.fromkeys(("linalg_cholesky_ex", "cholesky", "linalg_ldl_factor_ex"), _SQUARE),
    "linalg_inv_ex": _per_matrix(lambda rows, columns: formulas.inverse(rows)),
    "cholesky_inverse": _per_matrix(lambda rows, columns: formulas.inverse(rows) / 3),
    "linalg_qr": _qr,
    **dict.fromkeys(("geqrf", "linalg_householder_product"), _per_matrix(formulas.householder)),
    "_linalg_solve_ex": _lu_solution,
    "linalg_solve_triangular": _solution(1),
    "triangular_solve": _solution(1, matrix=1),
    **dict.fromkeys(("linalg_lu_solve", "linalg_ldl_solve"), _solution(2)),
    **dict.fromkeys(("cholesky_solve", "_cholesky_solve_helper"), _solution(2, matrix=1)),
}  # fmt: skip
"""Operator -> its rule. Singular values and eigenvalues take as many steps as the data need."""
