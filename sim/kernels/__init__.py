"""Compiled kernels: the file of them that comes with the package, and a folder for all others."""

from collections.abc import Callable

before_compiling: list[Callable[[], object]] = []
"""What is called before a kernel is compiled, since that takes seconds."""
