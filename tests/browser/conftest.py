"""Fixtures of the browser tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from benchmarks.reference.browser import MISSING, chromium
from tests.support.reports import Reports


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        if started is None:
            pytest.skip(MISSING)
        yield started


@pytest.fixture
def reports(browser: Browser, tmp_path: Path) -> Iterator[Reports]:
    """Open reports, and check at the end that no page logged an error or made a request."""
    made = Reports(browser, tmp_path)
    yield made
    for report in made.opened:
        report.is_well()
        report.page.close()
