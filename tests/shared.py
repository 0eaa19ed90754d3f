"""Data beside the repository that tests may read where it is there, and only then."""

from functools import cache
from pathlib import Path

import pytest

from streamplace import StreamGraph, read_dataset

SHARED = Path(__file__).resolve().parents[1].parent / "shared" / "data"
DREAM = SHARED / "dream" / "graphs.jsonl.gz"
ENGINES = SHARED / "engines"

needs_dream = pytest.mark.skipif(
    not DREAM.exists(), reason="the released DREAM graphs are not in ../shared"
)

needs_engines = pytest.mark.skipif(
    not ENGINES.exists(), reason="the engines' documents are not in ../shared"
)


@cache
def released_graphs() -> list[StreamGraph]:
    """Return the 2,520 released graphs."""
    return read_dataset(DREAM)


def engine_document(name: str) -> str:
    """Return a real engine's document; where there is none the test is skipped, and says so."""
    path = ENGINES / name
    if not path.exists():
        pytest.skip(f"{name} is not in ../shared")
    return path.read_text()
