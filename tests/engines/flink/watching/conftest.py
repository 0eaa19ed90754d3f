"""Requests to scripted servers follow each other quickly."""

import pytest

from tests.support.flink_actions import quick


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)
