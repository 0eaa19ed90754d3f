"""Loading of PyTorch modules that users name, and their example inputs."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import torch

from streamplace.errors import UsageError, located
from streamplace.formats.sizes import shape_from
from streamplace.networks.torch.graph import read_program
from streamplace.networks.torch.program import export
from streamplace.problem.logical import LogicalGraph
from streamplace.util.plugins import load, named_fault, parts_of
from streamplace.util.suggest import valid_choices

DTYPES = (
    "float32", "float64", "float16", "bfloat16",
    "int64", "int32", "int16", "int8", "uint8", "bool", "complex64",
)  # fmt: skip
MAX_BYTES = 2**40
"""The largest size of one input."""
NOUN = "torch module"


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
        shape, kind = shape_from(text)
        dtype = "float32" if kind is None else kind
        if dtype not in DTYPES:
            raise UsageError(f"--input: unknown type {dtype!r:.40}{valid_choices(dtype, DTYPES)}")
        size = _dtype(dtype).itemsize * prod(shape)
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


def read(text: str, inputs: Sequence[str] = (), seed: int = 0) -> LogicalGraph:
    """Return the graph of a user's module, with notes about what it leaves out.

    Parameters
    ----------
    text, seed
        See `load_module`.
    inputs
        Inputs of the module as text; see `InputSpec.parse`.

    Raises
    ------
    UsageError
        See `load_module`.
    GraphError
        See `streamplace.networks.torch.graph.from_module`.
    """
    module, tensors = load_module(text, [InputSpec.parse(each) for each in inputs], seed)
    with located(text):
        return read_program(export(module, tensors), type(module).__name__)


def load_module(
    text: str, specs: Sequence[InputSpec] = (), seed: int = 0
) -> tuple[torch.nn.Module, tuple[Any, ...]]:
    """Return a user's module in evaluation mode, and example inputs for it.

    Parameters
    ----------
    text
        ``module:Class``, a subclass of `torch.nn.Module` that is constructed without arguments;
        ``module:function``, which is called without arguments and returns a module, or a module and
        a tuple of example inputs; or ``module:object``, a module.
    specs
        Shapes of the inputs; they replace those that a function returns.
    seed
        Seed of random weights and inputs.

    Raises
    ------
    UsageError
        If there is no such name, it is or returns something else, or there are no inputs.
    """
    name, options = parts_of(text)
    if ":" not in name:
        raise UsageError(f"{NOUN} {text!r}: expected module:Class or module:function")
    if options:
        raise UsageError(f"{NOUN} {text!r}: it has no options; write {name!r}")
    found = load(text, name, NOUN)
    if isinstance(found, type) and not issubclass(found, torch.nn.Module):
        raise UsageError(f"{NOUN} {text!r}: the class {found.__name__} is not a torch.nn.Module")
    if callable(found) and not isinstance(found, torch.nn.Module):
        what = "its constructor" if isinstance(found, type) else "the function"
        with named_fault(NOUN, text, f"{what} failed"), torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            found = found()
    module, own_inputs = _module_and_inputs(text, found)
    inputs = tensors_of(specs, seed) if specs else own_inputs
    if not inputs:
        raise UsageError(f"{NOUN} {text!r}: requires --input, such as --input 1x3x224x224")
    return module.eval(), inputs


def _module_and_inputs(text: str, found: object) -> tuple[torch.nn.Module, tuple[Any, ...]]:
    match found:
        case torch.nn.Module():
            return found, ()
        case torch.nn.Module() as module, tuple() | list() as inputs:
            return module, tuple(inputs)
    must = "must be or return a torch.nn.Module, or a pair of a module and a tuple of inputs"
    raise UsageError(f"{NOUN} {text!r}: {must} (got a {type(found).__name__})")
