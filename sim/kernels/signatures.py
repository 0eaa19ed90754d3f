"""Signatures of kernels as JSON: the kernels that the package uses, and the types of arguments."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import numba
import numpy as np

from streamplace.sim.kernels.numba_private import as_dtype

types = cast("Any", numba.types)  # its attributes have no annotations

LIST = Path(__file__).with_name("signatures.json")
"""Each kernel that Python calls, with the types of arguments of its calls."""

Signatures = dict[str, list[tuple[Any, ...]]]
"""By the qualified name of a kernel, the numba types of the arguments of each version."""


def read_signatures(path: Path = LIST) -> Signatures:
    """Return the signatures in a file, whose named tuples it imports."""
    document = json.loads(path.read_text("utf-8"))
    named: list[Any] = []
    for name, *kinds in document["tuples"]:
        module, _, kind = name.partition(":")
        named.append(_named(getattr(import_module(module), kind), [_type(k, named) for k in kinds]))
    return {
        kernel: [tuple(_type(kind, named) for kind in version) for version in versions]
        for kernel, versions in document["kernels"].items()
    }


def write_signatures(signatures: Signatures, path: Path = LIST) -> None:
    """Write signatures, sorted, with one line for each named tuple and each version of a kernel."""
    named: dict[Any, int] = {}
    tuples: list[str] = []
    kernels = {
        name: sorted(
            json.dumps([_text(kind, named, tuples) for kind in version])
            for version in sorted(each, key=str)
        )
        for name, each in sorted(signatures.items())
    }
    rows = [
        f"{json.dumps(name)}: [\n    " + ",\n    ".join(versions) + "\n  ]"
        for name, versions in kernels.items()
    ]
    lines = ",\n  "
    text = f'{{"tuples": [\n  {lines.join(tuples)}\n], "kernels": {{\n  {lines.join(rows)}\n}}}}\n'
    path.write_text(text, "utf-8")


def kernel_named(name: str) -> Any:
    """Return the kernel with a qualified name, as ``streamplace.sim.greedy._greedy``."""
    module, _, function = name.rpartition(".")
    return getattr(import_module(module), function)


def _text(kind: Any, named: dict[Any, int], tuples: list[str]) -> Any:
    """Return a type as JSON; a named tuple is its number in the list `tuples`, which grows."""
    kind = types.unliteral(kind)
    if isinstance(kind, types.Array):
        form = f"{kind.ndim}{kind.layout}{'' if kind.mutable else ' readonly'}"
        if isinstance(kind.dtype, types.Record):
            fields = as_dtype(kind.dtype).descr
            aligned = "aligned " if kind.dtype.aligned else ""
            return {aligned + form: [field for field in fields if field[0]]}  # others are gaps
        return f"{kind.dtype} {form}"
    if isinstance(kind, types.BaseNamedTuple):
        if kind not in named:
            fields = [_text(each, named, tuples) for each in kind.types]
            source = kind.instance_class
            tuples.append(json.dumps([f"{source.__module__}:{source.__qualname__}", *fields]))
            named[kind] = len(tuples) - 1
        return named[kind]
    if isinstance(kind, types.BaseTuple):
        return [_text(each, named, tuples) for each in kind.types]
    if kind == types.none:
        return None
    if not isinstance(kind, types.Number | types.Boolean):
        raise TypeError(f"{kind}: no text for this type of argument; add one in {__name__}")
    return str(kind)


def _type(text: Any, named: list[Any]) -> Any:
    """Return the type that `_text` wrote."""
    if text is None:
        return types.none
    if isinstance(text, int):
        return named[text]
    if isinstance(text, list):
        return types.Tuple([_type(each, named) for each in text])
    if isinstance(text, dict):
        ((form, fields),) = text.items()
        kind = np.dtype([*map(tuple, fields)], align=form.startswith("aligned "))
        return _array(numba.from_dtype(kind), form.removeprefix("aligned "))
    name, _, form = text.partition(" ")
    scalar = getattr(types, {"bool": "boolean"}.get(name, name))
    return _array(scalar, form) if form else scalar


def _array(kind: Any, form: str) -> Any:
    return types.Array(kind, int(form[0]), form[1], readonly=form.endswith(" readonly"))


def _named(kind: type, fields: list[Any]) -> Any:
    if fields and all(each == fields[0] for each in fields):
        return types.NamedUniTuple(fields[0], len(fields), kind)
    return types.NamedTuple(fields, kind)
