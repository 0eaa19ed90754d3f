"""Writer of the Java class that applies a mapping inside a Flink job."""

from importlib.resources import files

from streamplace.problem.placement import Placement


def write(placement: Placement) -> str:
    """Return the source of ``StreamplaceMapping``, a class that depends on Flink only."""
    return helper_source()


def helper_source() -> str:
    """Return the text of ``StreamplaceMapping.java``."""
    return files(__package__).joinpath("StreamplaceMapping.java").read_text(encoding="utf-8")
