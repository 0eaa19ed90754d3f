"""A counter of calls of a library, since only problems that reach the library count.

A library is specified by the places where its functions are looked up, each ``module:name``.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from typing import Any


class CallCounter:
    """A counter of calls of functions, `calls`, and of those that raise an exception, `failed`.

    Parameters
    ----------
    reached
        Called once at the first call after `begin`, before the function itself, so that a crash
        inside the function counts as reaching it.
    """

    def __init__(self, reached: Callable[[], None]) -> None:
        self._reached = reached
        self.calls = self.failed = 0

    def begin(self) -> None:
        """Start counting from 0."""
        self.calls = self.failed = 0

    def attach(self, places: Sequence[str]) -> None:
        """Count the calls of the functions at these places from now on."""
        for place in places:
            module, _, path = place.partition(":")
            *owners, name = path.split(".")
            owner: Any = import_module(module)
            for part in owners:
                owner = getattr(owner, part)
            setattr(owner, name, self._counted(getattr(owner, name)))

    def _counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def called(*values: Any, **named: Any) -> Any:
            self.calls += 1
            if self.calls == 1:
                self._reached()
            try:
                return function(*values, **named)
            except BaseException:
                self.failed += 1
                raise

        return called
