"""Example inputs of modules: shapes and types as text, and tensors with these shapes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from streamplace.errors import UsageError
from streamplace.util.suggest import valid_choices

DTYPES = (
    "float32", "float64", "float16", "bfloat16",
    "int64", "int32", "int16", "int8", "uint8", "bool", "complex64",
)  # fmt: skip
MAX_BYTES = 2**40
"""The largest size of one input."""

_SHAPE = re.compile(r"[0-9]{1,12}(?:x[0-9]{1,12})*|scalar")


@dataclass(frozen=True)
class InputSpec:
    """The shape and type of an input tensor.

    Parameters
    ----------
    shape
        Sizes of the axes; empty for a scalar.
    dtype
        Name of the type of its elements, such as ``float32``.
    """

    shape: tuple[int, ...]
    dtype: str = "float32"

    @classmethod
    def parse(cls, text: str) -> "InputSpec":
        """Return the input that a text such as ``1x3x224x224`` or ``1x128:int64`` describes.

        Raises
        ------
        UsageError
            If the text has another form, the type is unknown, or a size is 0 or too large.
        """
        sizes, colon, dtype = text.partition(":")
        if not _SHAPE.fullmatch(sizes):
            form = "must be sizes and perhaps a type, such as 1x3x224x224 or 1x128:int64"
            raise UsageError(f"--input: {form} (got {text!r:.60})")
        dtype = dtype if colon else "float32"
        if dtype not in DTYPES:
            raise UsageError(f"--input: unknown type {dtype!r:.40}{valid_choices(dtype, DTYPES)}")
        shape = () if sizes == "scalar" else tuple(map(int, sizes.split("x")))
        size = _dtype(dtype).itemsize
        for axis in shape:
            if not axis:
                raise UsageError(f"--input: sizes must be at least 1 (got {text!r:.60})")
            size *= axis
        if size > MAX_BYTES:
            raise UsageError(f"--input: {text!r:.60} has {size:,} bytes; at most {MAX_BYTES:,}")
        return cls(shape, dtype)


def tensors_of(specs: Sequence[InputSpec], seed: int = 0) -> tuple[torch.Tensor, ...]:
    """Return tensors of these shapes and types.

    Fractions are drawn from the standard normal distribution. Whole numbers are 1, which is a
    valid index of most tables, and Boolean values are true.

    Parameters
    ----------
    seed
        Seed of the random numbers.
    """
    generator = torch.Generator().manual_seed(seed)
    return tuple(_tensor(spec, generator) for spec in specs)


def _tensor(spec: InputSpec, generator: torch.Generator) -> torch.Tensor:
    dtype = _dtype(spec.dtype)
    if dtype.is_floating_point or dtype.is_complex:
        return torch.randn(spec.shape, generator=generator, dtype=dtype)
    return torch.ones(spec.shape, dtype=dtype)


def _dtype(name: str) -> torch.dtype:
    dtype: torch.dtype = getattr(torch, name)
    return dtype
