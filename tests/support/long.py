"""Parameters of tests that are long in sum."""

from collections.abc import Iterable
from typing import Any

import pytest


def long_after(count: int, values: Iterable[Any]) -> list[Any]:
    """Return the parameters of a test, with those after the first ones marked long.

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
