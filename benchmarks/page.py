"""How long a report of 500 operators takes to its first picture, and an edit of it by drag.

python -m benchmarks.page (after `make test-browser`, which fetches what drives the browser)
"""

import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Page

from benchmarks.reference.browser import MISSING, chromium
from streamplace import Cluster, Placement, Problem
from streamplace.generate import Recipe
from streamplace.report.data import DRAWN, entry
from streamplace.report.html import report_html

TIMES = 5
DRAGS = 20
FRAMES = """() => {
    window.frames_ = [];
    let last = performance.now();
    const tick = (now) => { frames_.push(now - last); last = now; requestAnimationFrame(tick); };
    requestAnimationFrame(tick);
}"""


def main() -> None:
    """Print medians and the worst."""
    graph = Recipe("layered", 1, range(DRAWN, DRAWN + 1)).graph(0)
    problem = Problem(graph, Cluster.equal(5), source_rate=2e4)
    placement = Placement(problem, np.random.default_rng(0).integers(5, size=DRAWN))
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        if browser is None:
            sys.exit(MISSING)
        file = Path(folder) / "report.html"
        file.write_text(report_html([entry("placement.json", placement)]))
        told("first picture", [_first_picture(browser, file) for _ in range(TIMES)])
        edits, frames = _dragged(_opened(browser, file))
        told("computing an edit", edits)
        told("a frame while dragging", frames)


def told(what: str, times: list[float]) -> None:
    """Print a median and the worst, in ms."""
    print(f"{what}: median {statistics.median(times):.1f} ms, worst {max(times):.1f} ms")


def _first_picture(browser: Browser, file: Path) -> float:
    page = _opened(browser, file)
    found = float(page.evaluate("streamplace.timing().firstPicture"))
    page.close()  # what is open goes on drawing
    return found


def _opened(browser: Browser, file: Path) -> Page:
    page = browser.new_page()
    page.goto(file.as_uri())
    page.wait_for_function("streamplace.timing().firstPicture !== null")
    page.wait_for_timeout(500)
    return page


def _dragged(page: Page) -> tuple[list[float], list[float]]:
    """Drag operators to and fro; return ms of each edit, and between frames meanwhile."""
    page.locator("#graph").scroll_into_view_if_needed()
    page.evaluate(FRAMES)
    edits = []
    for i in range(DRAGS):
        operator = page.evaluate(f"streamplace.whereIs('operator', {i * 20})")
        lane = page.evaluate(f"streamplace.whereIs('device', {i % 5})")
        page.mouse.move(operator["x"], operator["y"])
        page.mouse.down()
        page.mouse.move(operator["x"], lane["y"], steps=10)
        page.mouse.up()
        edits.append(float(page.evaluate("streamplace.timing().lastEdit")))
    return edits, [float(ms) for ms in page.evaluate("frames_")]


if __name__ == "__main__":
    main()
