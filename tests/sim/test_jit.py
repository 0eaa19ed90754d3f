"""Tests of the compilation of kernels."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numba
import numpy as np
import pytest

from streamplace.sim import jit
from streamplace.sim.flow import Ints
from streamplace.sim.jit import bare, bare_entry, kernel

ROOT = Path(__file__).resolve().parents[2]
FOR_KERNELS = {"inner", "bare", "part"}
COMPILED = {*FOR_KERNELS, "kernel", "bare_entry"}


@bare
def _halved(x: float) -> float:
    return x / 2


@bare_entry
def _doubled(x: float) -> float:
    return x * 2


@kernel
def _sum_of_halves(numbers: Ints, further: float) -> float:
    total = _halved(further) + _halved(3)
    for i in range(numbers.shape[0]):
        total += _halved(numbers[i]) + _halved(i)
    return total


def test_a_function_for_kernels_refuses_calls_from_python() -> None:
    """It has no wrapper, so the call would end the interpreter, also once it is compiled."""
    for _ in range(2):
        with pytest.raises(TypeError, match="_halved: only kernels can call this function"):
            _halved(2.0)
        with pytest.raises(TypeError, match="_halved: only kernels can call this function"):
            _halved(2)
        assert _sum_of_halves(np.array([4, 6], np.int32), 1.0) == 7.5


def test_a_function_for_kernels_has_one_version_for_integers() -> None:
    """A kernel asks for versions as here when it is compiled, but not when it is cached."""
    halved, types = cast("Any", _halved).compiled, cast("Any", numba).types
    for kind in (types.int32, types.int64, types.literal(3), types.float64):
        halved.get_call_template((kind,), {})
    assert sorted(map(str, halved.overloads)) == ["(float64,)", "(int64,)"]


def test_an_entry_can_be_called_from_python() -> None:
    assert _doubled(4.0) == 8.0
    assert _doubled(2) == 4


def test_without_compilation_every_function_is_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.config.DISABLE_JIT", True)
    assert bare(cast("Any", _halved).py_func)(5) == 2.5
    assert bare_entry(cast("Any", _doubled).py_func)(5) == 10


def test_a_function_for_kernels_is_compiled_with_the_first_kernel_that_calls_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("streamplace.sim.kernels.cache._folder", lambda codegen: None)

    @bare
    def third(x: float) -> float:
        return x / 3

    @kernel
    def ninth(x: float) -> float:
        return third(third(x))

    assert "compiled" not in vars(third)
    assert ninth(18.0) == 2.0
    assert len(vars(third)["compiled"].overloads) == 1


@pytest.mark.parametrize("hook", ["get_call_template", "_compile_for_args", "add_overload"])
def test_a_numba_without_the_hooks_compiles_plain_functions(
    hook: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Functions for kernels then have wrappers and versions for each size of integers."""

    def compiled_without_the_hook(function: Any, options: dict[str, Any]) -> Any:
        return _Without(hook, compiled(function, options))

    compiled = jit._compiled
    monkeypatch.setattr(jit, "_compiled", compiled_without_the_hook)

    def third(x: float) -> float:
        return x / 3

    def tripled(x: float) -> float:
        return x * 3

    for_kernels, entry = cast("Any", bare(third)), cast("Any", bare_entry(tripled))
    assert for_kernels.compiled(6.0) == 2.0
    assert for_kernels.compiled(6) == 2.0
    assert entry(2) == 6
    assert not for_kernels.compiled.changed | entry.changed
    called = for_kernels.compiled.compiled

    @kernel
    def ninth(x: float) -> float:
        return float(called(called(x)))

    assert cast("Any", ninth).compiled(18) == 2.0


class _Without:
    """A compiled function without one of its attributes."""

    def __init__(self, hook: str, compiled: Any) -> None:
        vars(self).update(hook=hook, compiled=compiled, changed=set[str]())

    def __getattr__(self, name: str) -> Any:
        if name == self.hook:
            raise AttributeError(name)
        return getattr(self.compiled, name)

    def __setattr__(self, name: str, _: object) -> None:
        self.changed.add(name)

    def __call__(self, *arguments: Any) -> Any:
        return self.compiled(*arguments)


def test_python_calls_no_function_for_kernels() -> None:
    """Such a call raises TypeError, in code that a test may never reach."""
    files = [path for part in ("sim", "streamplace") for path in (ROOT / part).rglob("*.py")]
    trees = {
        path.relative_to(ROOT).with_suffix("").as_posix().replace("/", "."): ast.parse(
            path.read_text(encoding="utf-8")
        )
        for path in files
    }
    inside = {
        f"{module}.{node.name}"
        for module, tree in trees.items()
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and _decorators(node) & FOR_KERNELS
    }
    assert len(inside) > 200
    called = [
        f"{module} calls {name}"
        for module, tree in trees.items()
        for name in _called_from_python(tree, module)
        if name in inside
    ]
    assert called == []


def _decorators(node: ast.FunctionDef) -> set[str]:
    return {ast.unparse(decorator) for decorator in node.decorator_list}


def _called_from_python(tree: ast.Module, module: str) -> Iterator[str]:
    """Yield the full name of every function that uncompiled code calls by its own name."""
    full = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef) and _decorators(node) & COMPILED:
            continue
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield full.get(node.func.id, f"{module}.{node.func.id}")
        waiting += ast.iter_child_nodes(node)
