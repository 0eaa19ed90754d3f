"""Documents that Flink's REST API served; tests that need them are skipped if they are missing."""

import json
from typing import Any

import pytest

from tests.support.released_data import SHARED


def recorded(name: str) -> Any:
    """Return the answer in a recorded document."""
    path = SHARED / "running" / "flink-rest" / f"{name}.json"
    if not path.exists():
        pytest.skip(f"{name} is not in ../shared")
    return json.loads(path.read_text())["answer"]
