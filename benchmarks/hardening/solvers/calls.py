"""Calls of a library, counted where it is called: problems that never get there are no try of it.

A library is named by the places where its functions are looked up, ``module:name`` each.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from typing import Any


class Calls:
    """Counts calls of some functions, and those that ended in an exception.

    Parameters
    ----------
    reached
        Is called on the first call since `begin`, before the function itself: a process that ends
        in there has reached it.
    """

    def __init__(self, reached: Callable[[], None]) -> None:
        self._reached = reached
        self.made = self.failed = 0

    def begin(self) -> None:
        """Count anew."""
        self.made = self.failed = 0

    def attach(self, places: Sequence[str]) -> None:
        """Count the calls of what is at these places from now on."""
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
            self.made += 1
            if self.made == 1:
                self._reached()
            try:
                return function(*values, **named)
            except BaseException:
                self.failed += 1
                raise

        return called
