"""Errors about the default cluster, which users may not know that they chose."""

from collections.abc import Iterator
from contextlib import contextmanager

from streamplace.errors import InfeasibleError, reworded


@contextmanager
def naming_the_default(used: bool, options: str = "--cluster FILE") -> Iterator[None]:
    """Say in the error of an infeasible problem that its devices are the default ones.

    Parameters
    ----------
    used
        Whether no option specifies the devices.
    options
        The options that do.
    """
    try:
        yield
    except InfeasibleError as error:
        if not used:
            raise
        remedy = f"the devices are the default 5x2500, {options} describes others"
        family = "generate --clusters writes those of families that have device networks"
        raise reworded(error, f"{error}; {remedy} ({family})") from None
