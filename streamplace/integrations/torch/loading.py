"""Modules that users name as ``module:Class`` or ``module:function``.

The code is imported only because a user typed its name; see `streamplace.util.plugins`.
"""

from collections.abc import Sequence
from typing import Any

import torch

from streamplace.errors import UsageError, located
from streamplace.integrations.torch.graph import read_program
from streamplace.integrations.torch.inputs import InputSpec, tensors_of
from streamplace.integrations.torch.program import export
from streamplace.problem.logical import LogicalGraph
from streamplace.util.plugins import load, named_fault, parts_of

NOUN = "torch module"


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
        See `streamplace.integrations.torch.graph.from_module`.
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
