"""Parameters of tests of which only the first are quick."""

from collections.abc import Iterable
from typing import Any

import pytest


def long_after(count: int, values: Iterable[Any]) -> list[Any]:
    """Return the parameters of a test, with all but the first ones marked long.

    Parameters
    ----------
    count
        Number of the first ones.
    values
        The parameters; a tuple has one value per name.
    """
    return [
        pytest.param(*(v if isinstance(v, tuple) else (v,)), marks=pytest.mark.long)
        if i >= count
        else v
        for i, v in enumerate(values)
    ]
