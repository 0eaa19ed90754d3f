"""Speed of a report page of 500 operators, and of a schedule of 1,000: first pictures and edits.

    python -m benchmarks.page

Run `make test-browser` first: it installs Playwright, which drives the browser.
"""

import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Page

from benchmarks.reference.browser import MISSING, chromium
from streamplace import Cluster, Makespan, Placement, Problem
from streamplace.families import Recipe
from streamplace.reports.data import entry
from streamplace.reports.html import report_html
from streamplace.reports.schedules import DRAWN

TIMES = 5  # page loads, each with a first picture
DRAGS = 20  # edits
SCHEDULED = 1000  # operators of the schedule
# records the ms of each frame in `frames_`
FRAMES = """() => {
    window.frames_ = [];
    let last = performance.now();
    const tick = (now) => { frames_.push(now - last); last = now; requestAnimationFrame(tick); };
    requestAnimationFrame(tick);
}"""


def main() -> None:
    """Print the median and the maximum of each figure."""
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        if browser is None:
            sys.exit(MISSING)
        for name, placement, where in (
            ("lanes", _placement(DRAWN), "whereIs"),
            ("schedule", _scheduled(_placement(SCHEDULED)), "whereInSchedule"),
        ):
            file = Path(folder) / f"{name}.html"
            file.write_text(report_html([entry("placement.json", placement)]))
            report(f"{name}: first picture", [_first_picture(browser, file) for _ in range(TIMES)])
            edits, frames = _dragged(_opened(browser, file), where)
            report(f"{name}: computing an edit", edits)
            report(f"{name}: a frame while dragging", frames)


def _placement(operators: int) -> Placement:
    graph = Recipe("layered", 1, range(operators, operators + 1)).graph(0)
    problem = Problem(graph, Cluster.equal(5), source_rate=2e4)
    return Placement(problem, np.random.default_rng(0).integers(5, size=operators))


def _scheduled(placement: Placement) -> Placement:
    """Return the same placement under the makespan objective."""
    aim = Makespan(batch=1000, order="b-level")
    return Placement(placement.problem.with_objective(aim), placement.devices)


def report(figure: str, times: list[float]) -> None:
    """Print the median and the maximum of times in ms."""
    print(f"{figure}: median {statistics.median(times):.1f} ms, maximum {max(times):.1f} ms")


def _first_picture(browser: Browser, file: Path) -> float:
    page = _opened(browser, file)
    ms = float(page.evaluate("streamplace.timing().firstPicture"))
    page.close()  # an open page continues to draw
    return ms


def _opened(browser: Browser, file: Path) -> Page:
    page = browser.new_page()
    page.goto(file.as_uri())
    page.wait_for_function("streamplace.timing().firstPicture !== null")
    page.wait_for_timeout(500)
    return page


def _dragged(page: Page, where: str) -> tuple[list[float], list[float]]:
    """Drag operators to other devices; return the ms of each edit and of each frame meanwhile.

    Parameters
    ----------
    where
        The function of the page that returns positions in the lanes or in the schedule.
    """
    picture = "#graph" if where == "whereIs" else "#gantt"
    page.locator(picture).scroll_into_view_if_needed()
    page.evaluate(FRAMES)
    edits = []
    for i in range(DRAGS):
        operator = page.evaluate(f"streamplace.{where}('operator', {i * 20})")
        lane = page.evaluate(f"streamplace.{where}('device', {i % 5})")
        page.mouse.move(operator["x"], operator["y"])
        page.mouse.down()
        page.mouse.move(operator["x"], lane["y"], steps=10)
        page.mouse.up()
        edits.append(float(page.evaluate("streamplace.timing().lastEdit")))
    return edits, [float(ms) for ms in page.evaluate("frames_")]


if __name__ == "__main__":
    main()
