"""Reports opened in a browser."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, Page

from streamplace import Placement
from streamplace.reports.data import entry
from streamplace.reports.html import report_html

VIEWPORT = {"width": 1280, "height": 2600}  # all lanes are visible, to drag between them


@dataclass
class Report:
    """A report in a browser, with its errors and requests."""

    page: Page
    address: str
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def score(self) -> dict[str, Any]:
        score: dict[str, Any] = self.page.evaluate("streamplace.score()")
        return score

    def where_is(self, kind: str, number: int) -> tuple[float, float]:
        """Return the position of an operator or of a device's lane, in pixels."""
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

    def bar(self, kind: str, number: int) -> tuple[float, float]:
        """Return the middle of an operator's bar, or the left end of a device's row, in pixels."""
        at = self.page.evaluate(f"streamplace.whereInSchedule('{kind}', {number})")
        return at["x"], at["y"]

    def drag_bar(self, operator: int, device: int, *, drop: bool = True) -> None:
        """Drag an operator's bar into a device's row with the mouse."""
        mouse = self.page.mouse
        self.page.locator("#gantt").scroll_into_view_if_needed()
        self.settle()
        x, y = self.bar("operator", operator)
        mouse.move(x, y)
        mouse.down()
        mouse.move(x + 9, y)  # far enough to count as a drag
        _, y = self.bar("device", device)
        mouse.move(x + 9, y, steps=2)
        self.settle()
        if drop:
            mouse.up()
            self.settle()

    def unfold(self) -> None:
        """Show all rows of the list of operators."""
        button = self.page.locator("#operators-section .unfold")
        if button.is_visible():
            button.click()

    def settle(self) -> None:
        """Wait until the page has been drawn again."""
        drawn = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        self.page.evaluate(drawn)

    def press(self, where: str | Locator, *keys: str) -> None:
        """Focus something and press keys."""
        target = self.page.locator(where) if isinstance(where, str) else where
        target.focus()
        for key in keys:
            self.page.keyboard.press(key)

    def type(self, where: str | Locator, text: str) -> None:
        """Replace a field's text with the keyboard only."""
        self.press(where, "Control+a", "Delete")
        self.page.keyboard.type(text)
        self.page.keyboard.press("Tab")

    def download(self, file: Path) -> Path:
        with self.page.expect_download() as begun:
            self.page.click("#save")
        begun.value.save_as(file)
        return file

    def is_well(self) -> None:
        """Check that the page logged no errors and requested only its own file."""
        assert self.errors == []
        assert [url for url in self.requests if not url.startswith("blob:")] == [self.address]


class Reports:
    """Reports of placements, opened in one browser."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self._browser, self._folder = browser, folder
        self.opened: list[Report] = []

    def __call__(
        self, *placements: Placement, title: str = "placement.json", placer: str = ""
    ) -> Report:
        return self.show(report_html([entry(title, each, placer) for each in placements]))

    def show(self, html: str) -> Report:
        """Open a page."""
        file = self._folder / f"report{len(self.opened)}.html"
        file.write_text(html)
        page = self._browser.new_page(viewport=VIEWPORT, reduced_motion="reduce")
        report = Report(page, file.as_uri())
        page.on("console", lambda message: report.errors.append(message.text))
        page.on("pageerror", lambda error: report.errors.append(str(error)))
        page.on("dialog", lambda dialog: report.errors.append(dialog.message))
        page.on("request", lambda request: report.requests.append(request.url))
        page.goto(report.address)
        self.opened.append(report)
        return report
