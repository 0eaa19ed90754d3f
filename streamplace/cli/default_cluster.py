"""Errors about the default cluster, which users may not know that they chose."""

from collections.abc import Iterator
from contextlib import contextmanager

from streamplace.errors import InfeasibleError, StreamplaceError, reworded


@contextmanager
def naming_the_default(
    used: bool, options: str = "--cluster FILE", which: str = "the default 5x2500"
) -> Iterator[None]:
    """Say in the error of an infeasible problem that its devices are the default ones.

    Parameters
    ----------
    used
        Whether no option specifies the devices.
    options
        The options that specify them.
    which
        What the default devices are.
    """
    try:
        yield
    except StreamplaceError as error:
        if not (used and (isinstance(error, InfeasibleError) or error.infeasible)):
            raise
        remedy = f"the devices are {which}: set {options}"
        sources = "import --cluster-out and generate --clusters write clusters"
        raise reworded(error, f"{error}; {remedy} ({sources})") from None
