"""The texts of errors."""

from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

from streamplace.errors import StreamplaceError

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Fault = tuple[str, str, str]
"""A bad file, the place of its fault, and a pattern of the message."""


def result_or_error(
    function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> tuple[Result | None, str]:
    """Return a result and an empty text, or None and the text of the error."""
    try:
        return function(*args, **kwargs), ""
    except StreamplaceError as error:
        return None, str(error)


def fault_of(error: StreamplaceError | str, file: str | Path) -> str:
    """Check that an error is one line that begins with its file, and return the rest of it."""
    text = str(error)
    assert text.startswith(f"{file}: ")
    assert len(text.splitlines()) == 1
    return text.removeprefix(f"{file}: ")
