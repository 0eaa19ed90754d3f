"""Operators of PyTorch whose work is one operation for each element read or returned.

Those that PyTorch marks by `torch.Tag.pointwise` or `view_copy` also belong to the second kind.
Names are those of ATen's operators; others begin with their library.
"""

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
