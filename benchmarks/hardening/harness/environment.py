"""The root of the repository, and the environment variables of child processes."""

import os
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def environment(variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return this process's environment with the repository on PYTHONPATH and further variables."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **(variables or {})}
