"""Public data next to the repository; tests that need it are skipped if it is missing."""

from functools import cache

import pytest

from streamplace import StreamGraph, read_dataset
from tests.support.paths import ROOT

SHARED = ROOT.parent / "shared" / "data"
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
    """Return a document of a real engine, or skip the test if it is missing."""
    path = ENGINES / name
    if not path.exists():
        pytest.skip(f"{name} is not in ../shared")
    return path.read_text()
