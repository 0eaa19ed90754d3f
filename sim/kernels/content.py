"""Content of kernels: what their compiled code depends on, without names and lines of files."""

import hashlib
from collections.abc import Callable, Iterator
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np


@cache
def content_of(kernel: Any) -> str:
    """Return a hash of a kernel and of all functions and constants that it uses, in hexadecimals.

    Two versions of a package whose kernel has the same hash compile to the same code, whatever else
    changed: comments, docstrings, positions in files, and functions that the kernel does not call.
    """
    reached: dict[Callable[..., object], str] = {}
    waiting = [kernel]
    while waiting:
        function = waiting.pop()
        own, used = _own_content(function)
        reached[function] = own
        waiting += [each for each in used if each not in reached]
    return _hash("\n".join(sorted({*reached.values()})), reached[kernel])


@cache
def _own_content(function: Any) -> tuple[str, tuple[Any, ...]]:
    """Return a hash of a function alone, and the functions that it uses."""
    plain = _plain(function)
    parts = [plain.__module__, plain.__qualname__, repr(plain.__defaults__)]
    parts.append(repr(sorted(getattr(function, "targetoptions", {}).items())))
    parts += _parts_of_code(plain.__code__, plain.__doc__)
    used: list[Any] = []
    for name, value in _values(plain):
        if isinstance(_plain(value), FunctionType):
            used.append(value)
        parts.append(f"{name}={_text_of(value)}")
    return _hash(*parts), tuple(used)


def fields_of(kinds: Any) -> list[str]:
    """Return the fields of named tuples among types, which the names of the types do not have."""
    texts: list[str] = []
    for kind in kinds:
        if hasattr(kind, "instance_class"):
            texts.append(_text_of(kind.instance_class))
        texts += fields_of(getattr(kind, "types", ()))
    return texts


def _plain(function: Any) -> Any:
    """Return the Python function that was compiled, or that writes the code of an intrinsic."""
    return getattr(function, "py_func", getattr(function, "_defn", function))


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:40]


def _parts_of_code(code: CodeType, doc: str | None) -> Iterator[str]:
    """Yield what code is made of; names of variables are part of messages, so they count."""
    yield code.co_code.hex()
    yield repr((code.co_names, code.co_varnames, code.co_freevars, code.co_exceptiontable))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _parts_of_code(constant, None)
        elif isinstance(constant, frozenset):
            yield repr(sorted(constant, key=repr))
        elif doc is None or constant != doc:
            yield repr(constant)


def _values(function: FunctionType) -> Iterator[tuple[str, object]]:
    """Yield the names from outside that a function reads, and their values."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents
    names = [*_names(function.__code__)]
    own = {_root(__name__), _root(function.__module__)}
    for name in names:
        if name in function.__globals__:
            value = function.__globals__[name]
            yield name, value
            if isinstance(value, ModuleType) and _root(value.__name__) in own:  # others are fixed
                yield from ((n, vars(value)[n]) for n in names if n in vars(value))


def _root(module: str) -> str:
    return module.partition(".")[0]


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _text_of(value: object) -> str:
    """Return what compiled code depends on of a value."""
    if isinstance(value, type) and hasattr(value, "_fields"):  # a named tuple
        defaults = getattr(value, "_field_defaults", {})
        return f"{value.__module__}.{value.__qualname__}{value._fields}{defaults}"
    if isinstance(value, np.generic | np.ndarray):  # their texts differ between versions of numpy
        return f"{value.dtype.str}{value.shape}{value.tobytes().hex()}"
    if isinstance(value, int | float | str | tuple | None):
        return repr(value)
    return getattr(value, "__qualname__", type(value).__qualname__)
