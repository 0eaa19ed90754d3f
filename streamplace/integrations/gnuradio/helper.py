"""Writer of the program that counts the items and CPU times of a flowgraph."""

from importlib.resources import files

from streamplace.problem.placement import Placement


def write(placement: Placement) -> str:
    """Return ``streamplace_counters.py``, which is the same for every placement."""
    return helper_source()


def helper_source() -> str:
    """Return the text of ``streamplace_counters.py``, which depends on GNU Radio only."""
    return files(__package__).joinpath("streamplace_counters.py").read_text(encoding="utf-8")
