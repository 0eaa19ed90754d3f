"""Work of operators in floating-point operations.

The functions take the arguments of a call, with tensors without data, and the first tensor that it
returns. A multiplication and an addition are two operations, as in `torch.utils.flop_counter`.

Those that PyTorch marks by `torch.Tag.pointwise` or `view_copy` also belong to the second kind.
Names are those of ATen's operators; others begin with their library.
"""

from collections.abc import Callable
from math import prod
from typing import Any

import torch
from torch.fx import Node, map_arg
from torch.utils.flop_counter import flop_registry

from streamplace.networks import formulas
from streamplace.networks.torch.calls import elements, op_name, shape_of, tensors_of
from streamplace.problem.graph import UNKNOWN

READING = frozenset(
    (
        "_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "_aminmax", "_batch_norm_no_update",
        "_batch_norm_with_update", "_batch_norm_with_update_functional", "_fused_rms_norm",
        "_is_all_true", "_is_any_true", "_log_softmax", "_logcumsumexp", "_masked_softmax",
        "_native_batch_norm_legit", "_native_batch_norm_legit_functional",
        "_native_batch_norm_legit_no_training", "_softmax", "adaptive_avg_pool1d",
        "adaptive_max_pool2d", "adaptive_max_pool3d", "all", "amax", "amin", "aminmax", "any",
        "argmax", "argmin", "bincount", "count_nonzero", "cummax", "cummin", "cumprod", "cumsum",
        "dist", "hash_tensor", "histc", "index_reduce", "kthvalue", "linalg__powsum",
        "linalg_vector_norm", "logcumsumexp", "logsumexp", "max", "mean", "median", "min", "mode",
        "nanmedian", "native_batch_norm", "native_group_norm", "native_layer_norm", "native_norm",
        "nll_loss_forward", "nonzero", "nonzero_static", "norm", "prod",
        "quantize_per_tensor_dynamic",
        "scatter_reduce", "segment_reduce", "std", "std_mean", "sum", "topk", "var", "var_mean",
        "quantized_decomposed.choose_qparams", "quantized_decomposed.choose_qparams_symmetric",
        "quantized_decomposed.choose_qparams_per_token",
        "quantized_decomposed.choose_qparams_per_token_asymmetric",
        "torchao.choose_qparams_affine",
    )
)  # fmt: skip
"""Operators that process every element of their first tensor once, such as sums."""
RETURNING = frozenset(
    (
        "_add_relu", "_conj_physical", "_copy_from", "_efficientzerotensor",
        "_fake_quantize_learnable_per_channel_affine", "_fake_quantize_learnable_per_tensor_affine",
        "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams", "_fused_dropout",
        "_index_put_impl", "_lazy_clone", "_masked_scale", "_pin_memory", "_stack", "_to_copy",
        "_unsafe_index", "_unsafe_index_put", "_unsafe_masked_index",
        "arange", "as_strided_scatter", "bartlett_window", "bernoulli", "blackman_window", "cat",
        "cauchy", "col2im", "complex", "constant_pad_nd", "copy", "dequantize", "diagonal_scatter",
        "embedding", "empty", "empty_like", "empty_permuted", "empty_strided", "exponential", "eye",
        "fake_quantize_per_channel_affine_cachemask", "fake_quantize_per_tensor_affine_cachemask",
        "fft_fftfreq", "fft_rfftfreq", "fill", "flip", "full", "full_like", "gather", "geometric",
        "hamming_window", "im2col", "index", "index_add", "index_copy", "index_fill", "index_put",
        "index_select", "int_repr", "kaiser_window", "lift", "lift_fresh", "linspace", "log_normal",
        "logspace", "lu_unpack", "masked_fill", "masked_scatter", "masked_select", "native_dropout",
        "new_empty", "new_empty_strided", "new_full", "new_ones", "new_zeros", "normal",
        "normal_functional", "ones", "ones_like", "pixel_shuffle", "pixel_unshuffle", "polar",
        "put", "quantize_per_channel", "quantize_per_tensor", "rand", "rand_like", "randint",
        "randint_like", "randn", "randn_like", "random", "randperm", "range", "reflection_pad1d",
        "reflection_pad2d", "reflection_pad3d", "repeat", "repeat_interleave", "replication_pad1d",
        "replication_pad2d", "replication_pad3d", "roll", "rrelu_with_noise_functional",
        "scalar_tensor", "scatter", "scatter_add", "select_scatter", "set",
        "slice_scatter",
        "stack", "take", "tril", "tril_indices", "triu", "triu_indices", "uniform",
        "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "zeros", "zeros_like",
        "prims.convert_element_type", "prims.iota",
        "quantized_decomposed.convert_element_type",
        "quantized_decomposed.dequantize_per_channel",
        "quantized_decomposed.dequantize_per_channel_group",
        "quantized_decomposed.dequantize_per_tensor",
        "quantized_decomposed.dequantize_per_token",
        "quantized_decomposed.fake_quant_per_channel",
        "quantized_decomposed.quantize_per_channel",
        "quantized_decomposed.quantize_per_channel_group",
        "quantized_decomposed.quantize_per_tensor",
        "quantized_decomposed.quantize_per_token",
        "torchao.dequantize_affine", "torchao.quantize_affine",
    )
)  # fmt: skip
"""Operators that do one operation, or move one element, for each element that they return."""
POOLS = frozenset(
    (
        "avg_pool1d", "avg_pool2d", "avg_pool3d",
        "max_pool1d", "max_pool2d_with_indices", "max_pool3d_with_indices",
        "quantized_max_pool1d", "quantized_max_pool2d", "quantized_max_pool3d",
    )
)  # fmt: skip
"""Operators that process a window of elements for each element of their result."""

Flops = Callable[[Any, torch.Tensor], Any]
"""The function for an operator; what it returns is a number."""
_ATTENTION = frozenset(
    (
        "scaled_dot_product_attention", "_scaled_dot_product_flash_attention_for_cpu",
        "_scaled_dot_product_attention_math", "_scaled_dot_product_fused_attention_overrideable",
    )
)  # fmt: skip


def _product(matrix: int = 0) -> Flops:
    """Return the function for a product, from the position of its first factor, (…, rows, n)."""
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


def _convolution(weights: int) -> Flops:
    """Return the function for a convolution, from the position of its weights, (outputs, …)."""
    return lambda args, out: 2.0 * out.numel() * prod(args[weights].shape[1:])


def _distances(args: Any, out: torch.Tensor) -> Any:
    return formulas.distances(out.numel(), args[0].shape[-1])


def _fourier(*, real: bool, of_result: bool = False) -> Flops:
    """Return the function for a Fourier transform: the second argument has its axes."""

    def count(args: Any, out: torch.Tensor) -> Any:
        signal = out if of_result else args[0]
        length = prod(signal.shape[axis] for axis in args[1])
        return formulas.fourier(length, signal.numel() / max(length, 1), real=real)

    return count


def _grid_sample(axes: int) -> Flops:
    """Return the function for `grid_sampler`; its third argument is linear, nearest or cubic."""
    return lambda args, out: formulas.resampling((2, 1, 4)[args[2]] ** axes, out.numel())


def _resize(taps: int) -> Flops:
    return lambda args, out: formulas.resampling(taps, out.numel())


def _bags(args: Any, out: torch.Tensor) -> Any:
    """Return one operation for each element of the rows of a table that are summed."""
    return float(args[1].numel() * args[0].shape[-1])


def _sort(args: Any, out: torch.Tensor) -> Any:
    """Return the comparisons; the variant that may be stable has its axis as third argument."""
    axis = args[1] if type(args[1]) is int else args[2]
    length = out.shape[axis] if out.dim() else 1
    return formulas.sorting(length, out.numel() / max(length, 1))


def _searches(boundaries: int) -> Flops:
    """Return the function for binary searches, from the position of what is searched."""
    return lambda args, out: formulas.search(args[boundaries].shape[-1], out.numel())


def _per_matrix(formula: Callable[[float, float], float]) -> Flops:
    """Return the function for an algorithm per matrix of the first argument, (…, rows, columns)."""

    def count(args: Any, out: torch.Tensor) -> Any:
        *batch, rows, columns = args[0].shape
        return prod(batch) * formula(rows, columns)

    return count


def _qr(args: Any, out: torch.Tensor) -> Any:
    """Return the work of R and, unless only R is asked for, of Q."""
    return (1 if args[1] == "r" else 2) * _per_matrix(formulas.householder)(args, out)


def _solution(triangles: int, matrix: int = 0) -> Flops:
    """Return the function for solving with triangular matrices.

    Parameters
    ----------
    triangles
        Number of triangular matrices, one after the other.
    matrix
        Position of the argument that has them.
    """

    def count(args: Any, out: torch.Tensor) -> Any:
        return triangles * formulas.substitution(args[matrix].shape[-1], out.numel())

    return count


def _lu_solution(args: Any, out: torch.Tensor) -> Any:
    return _per_matrix(formulas.lu)(args, out) + _solution(2)(args, out)


_SQUARE = _per_matrix(lambda rows, columns: formulas.cholesky(rows))

FLOPS: dict[str, Flops] = {
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
        _convolution(1),
    ),
    "conv_tbc": lambda args, out: 2.0 * out.numel() * prod(args[1].shape[:2]),
    "_fft_r2c": _fourier(real=True),
    "_fft_c2r": _fourier(real=True, of_result=True),
    "_fft_c2c": _fourier(real=False),
    **dict.fromkeys(("_cdist_forward", "_pdist_forward"), _distances),
    "grid_sampler_2d": _grid_sample(2),
    "grid_sampler_3d": _grid_sample(3),
    "upsample_linear1d": _resize(2),
    "upsample_bilinear2d": _resize(4),
    "upsample_trilinear3d": _resize(8),
    "upsample_bicubic2d": _resize(16),
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
"""Operator -> its function. Singular values and eigenvalues take as many steps as the data need."""


def flops(node: Node) -> float:
    """Return the floating-point operations of a node; NaN if no rule gives them.

    Products, convolutions and attention have the formulas of `torch.utils.flop_counter`, where a
    multiplication and an addition are two operations, and those that it lacks have formulas of
    the same kind. Reductions and normalisations count one per element read, pooling
    one per element of a window, and elementwise operators one per element returned.
    """
    name = op_name(node)
    arguments: Any = map_arg(node.args, lambda each: each.meta["val"])
    if name in _ATTENTION:
        return _attention(*(shape_of(tensor) for tensor in arguments[:3]))
    options: Any = map_arg(node.kwargs, lambda each: each.meta["val"])
    formula: Callable[..., Any] | None = flop_registry.get(
        getattr(node.target, "overloadpacket", None)
    )
    if formula is not None:
        return float(formula(*arguments, **options, out_val=node.meta["val"]))
    if name in FLOPS:
        return float(FLOPS[name](_all_arguments(node, arguments, options), tensors_of(node)[0]))
    return _per_element(node, name, arguments)


def _per_element(node: Node, name: str, arguments: Any) -> float:
    """Return the operations of a node that does some for each element; NaN of all others."""
    returned = float(max(elements(tensor) for tensor in tensors_of(node)))
    if name in POOLS:
        return returned * _window(name, arguments[1])
    if name in READING:
        first = next((each for each in arguments if isinstance(each, torch.Tensor)), None)
        return returned if first is None else float(elements(first))
    tags = getattr(node.target, "tags", ())
    if name in RETURNING or torch.Tag.pointwise in tags or torch.Tag.view_copy in tags:
        return returned
    return UNKNOWN


def _all_arguments(node: Node, arguments: Any, options: Any) -> list[Any]:
    """Return the arguments of a call in the order of the schema, with their defaults."""
    schema: Any = node.target._schema  # type: ignore[union-attr]  # noqa: SLF001 - has no public name
    rest = schema.arguments[len(arguments) :]
    return [*arguments, *(options.get(each.name, each.default_value) for each in rest)]


def _attention(query: tuple[int, ...], key: tuple[int, ...], value: tuple[int, ...]) -> float:
    """Return the operations of the two products of attention, for shapes (…, length, size)."""
    *heads, length, size = query
    return 2.0 * prod(heads) * length * key[-2] * (size + value[-1])


def _window(name: str, kernel: int | list[int]) -> int:
    """Return the number of elements of a pooling window."""
    axes = int(next(digit for digit in name if digit.isdigit()))
    sizes = [kernel] if isinstance(kernel, int) else list(kernel)
    return prod(sizes * axes if len(sizes) == 1 else sizes)
