"""Content of kernels: what their compiled code depends on, without names and lines of files."""

import hashlib
from collections.abc import Callable, Iterator
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any, get_type_hints

OWN = ("sim.", "streamplace.")
"""What modules of this package begin with; those of others have no kernels and do not change."""


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
    plain: FunctionType = getattr(function, "py_func", function)
    parts = [plain.__module__, plain.__qualname__, repr(plain.__defaults__)]
    parts.append(repr(sorted(getattr(function, "targetoptions", {}).items())))
    parts += _parts_of_code(plain.__code__, plain.__doc__)
    used: list[Any] = []
    for name, value in _values(plain):
        if isinstance(value, FunctionType) or hasattr(value, "py_func"):
            used.append(value)
        parts.append(f"{name}={_text_of(value)}")
    return _hash(*parts), tuple(used)


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
    for name in names:
        if name in function.__globals__:
            value = function.__globals__[name]
            yield name, value
            if isinstance(value, ModuleType) and value.__name__.startswith(OWN):
                yield from ((n, vars(value)[n]) for n in names if n in vars(value))


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _text_of(value: object) -> str:
    """Return what compiled code depends on of a value."""
    if isinstance(value, type) and hasattr(value, "_fields"):  # a named tuple
        hints = get_type_hints(value)
        return f"{value.__qualname__}{[(name, hints.get(name)) for name in value._fields]}"
    if isinstance(value, int | float | str | tuple | None):
        return repr(value)
    return getattr(value, "__qualname__", type(value).__qualname__)
