"""Chromium, and reports opened in it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page

from benchmarks.reference.browser import MISSING, chromium
from streamplace import Placement
from streamplace.report.data import entry
from streamplace.report.html import report_html

VIEWPORT = {"width": 1280, "height": 900}


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        if started is None:
            pytest.skip(MISSING)
        yield started


@dataclass
class Report:
    """A report in a browser; everything it complains of or asks for is kept."""

    page: Page
    address: str
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def score(self) -> dict[str, Any]:
        told: dict[str, Any] = self.page.evaluate("streamplace.scoring.throughput()")
        return told

    def where_is(self, kind: str, number: int) -> tuple[float, float]:
        """Return where an operator or the lane of a device is, in pixels."""
        at = self.page.evaluate(f"streamplace.whereIs('{kind}', {number})")
        return at["x"], at["y"]

    def drag(self, operator: int, device: int) -> None:
        """Drag an operator into a device's lane with the mouse."""
        mouse = self.page.mouse
        self.page.locator("#graph").scroll_into_view_if_needed()
        self.settle()
        mouse.move(*self.where_is("operator", operator))
        mouse.down()
        self.settle()
        _, y = self.where_is("device", device)
        x, _ = self.where_is("operator", operator)
        mouse.move(x, y, steps=3)
        self.settle()
        mouse.up()
        self.settle()

    def settle(self) -> None:
        """Wait until what was done has been drawn, however busy the machine is."""
        drawn = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        self.page.evaluate(drawn)

    def press(self, where: str | Locator, *keys: str) -> None:
        """Focus something and press keys."""
        target = self.page.locator(where) if isinstance(where, str) else where
        target.focus()
        for key in keys:
            self.page.keyboard.press(key)

    def type(self, where: str | Locator, text: str) -> None:
        """Replace a field's text by the keyboard alone."""
        self.press(where, "Control+a", "Delete")
        self.page.keyboard.type(text)
        self.page.keyboard.press("Tab")

    def download(self, file: Path) -> Path:
        with self.page.expect_download() as begun:
            self.page.click("#save")
        begun.value.save_as(file)
        return file

    def is_well(self) -> None:
        """Fail where something was complained of, or anything but the file itself was asked for."""
        assert self.complaints == []
        assert [url for url in self.requests if not url.startswith("blob:")] == [self.address]


class Reports:
    """Opens reports of placements."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self._browser, self._folder = browser, folder
        self.opened: list[Report] = []

    def __call__(
        self, *placements: Placement, title: str = "placement.json", placer: str = ""
    ) -> Report:
        file = self._folder / f"report{len(self.opened)}.html"
        file.write_text(report_html([entry(title, placement, placer) for placement in placements]))
        page = self._browser.new_page(viewport=VIEWPORT, reduced_motion="reduce")
        report = Report(page, file.as_uri())
        page.on("console", lambda said: report.complaints.append(said.text))
        page.on("pageerror", lambda error: report.complaints.append(str(error)))
        page.on("dialog", lambda dialog: report.complaints.append(dialog.message))
        page.on("request", lambda asked: report.requests.append(asked.url))
        page.goto(report.address)
        self.opened.append(report)
        return report


@pytest.fixture
def reports(browser: Browser, tmp_path: Path) -> Iterator[Reports]:
    """Open reports; when the test is over none of them may have complained or asked for more."""
    made = Reports(browser, tmp_path)
    yield made
    for report in made.opened:
        report.is_well()
        report.page.close()
