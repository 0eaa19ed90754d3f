"""Operators with several instances, slots of devices, and several jobs on the page."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from streamplace import (
    Cluster,
    Device,
    Jobs,
    Operator,
    Placement,
    Problem,
    Stream,
    StreamGraph,
    place_jobs,
)
from streamplace.cli.main import main
from tests.support.chain_placement import chain_placement
from tests.support.jobs import competing_jobs
from tests.support.reports import Reports

TIMES = "\N{MULTIPLICATION SIGN}"
COUNTED = [f"count[{i}]" for i in range(3)]


def counted_placement() -> Placement:
    """Return a placement of a source and three instances on devices with two slots."""
    graph = StreamGraph(
        [Operator("read", 1e4, 100.0)]
        + [Operator(name, 1e5, 0.0, instance_of="count") for name in COUNTED],
        [Stream("read", name, 1 / 3) for name in COUNTED],
        source_rate=1e3,
    )
    cluster = Cluster([Device(f"d{d}", 2500.0, slots=2) for d in range(3)])
    return Placement(Problem(graph, cluster), [0, 0, 1, 1])


def texts(page: Page, where: str) -> list[str]:
    """Return the texts of elements without line breaks, isolation marks, and the times sign."""
    found = page.locator(where).all_inner_texts()
    plain = {"\u2068": "", "\u2069": "", "\n": " ", TIMES: "x"}
    return [text.translate(str.maketrans(plain)) for text in found]


def test_instances_are_grouped_under_their_operator(reports: Reports) -> None:
    page = reports(counted_placement()).page
    assert "2 operators in 4 instances" in page.inner_text("#subtitle")
    assert texts(page, "#operators tr:visible th") == ["count 3 instances", "read"]
    assert texts(page, "#operators tr.parent td") == ["90.9%", "d1 x 2, d0 x 1"]
    parent = page.locator("#operators tr.parent button")
    parent.click()
    assert parent.get_attribute("aria-expanded") == "true"
    assert texts(page, "#operators tr:visible th")[1:] == [*COUNTED, "read"]
    select = page.locator("#operators tr.instance select").first
    select.focus()  # its other options are added then
    select.select_option("2")
    assert texts(page, "#operators tr.parent td")[1] == "d1 x 2, d2 x 1"
    page.click("#undo")
    assert texts(page, "#operators tr.parent td")[1] == "d1 x 2, d0 x 1"
    parent.click()
    assert len(texts(page, "#operators tr:visible th")) == 2


def test_names_of_operators_with_instances_are_legible_on_phones_and_paper(
    reports: Reports,
) -> None:
    """No name is cut, and no cell reaches over the border of its section."""
    page = reports(counted_placement()).page
    name = page.locator("#operators tr.parent bdi").first
    cut = "one => one.scrollWidth - one.clientWidth"
    wide = """(table) => table.getBoundingClientRect().right
        - table.closest("section").getBoundingClientRect().right"""
    table = page.locator("table:has(#operators)")
    page.set_viewport_size({"width": 390, "height": 844})
    assert (name.evaluate(cut), name.inner_text()) == (0, "count")
    assert table.evaluate(wide) < 0
    page.set_viewport_size({"width": 718, "height": 1040})  # A4 without its margins
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert name.evaluate(cut) == 0
    assert table.evaluate(wide) < 0


def test_slots_are_shown_and_their_excess_is_reported(reports: Reports) -> None:
    report = reports(counted_placement())
    page = report.page
    assert texts(page, "#devices tr.uses") == [
        "2 of 2 slots",
        "2 of 2 slots",
        "0 of 2 slots · not used",
    ]
    assert page.inner_text("#broken") == ""
    report.drag(0, 1)
    assert texts(page, "#devices tr.uses")[1] == "3 of 2 slots"
    assert "would need 3 slots but has 2" in page.inner_text("#broken")
    page.locator("#devices button").nth(1).click()
    assert "3 of 2 slots" in texts(page, "#details")[0]


def test_operators_without_instances_are_not_grouped(reports: Reports) -> None:
    page = reports(chain_placement(["a", "b"], [0, 1], {})).page
    page.wait_for_selector("#operators tr")
    assert page.locator("#operators tr.parent").count() == 0
    assert page.inner_text("#subtitle").startswith("2 operators · ")
    assert page.locator("#jobs-section").is_hidden()


def test_graphs_that_are_not_drawn_have_a_table_of_operators(reports: Reports) -> None:
    instances = {f"a[{i}]": "a" for i in range(600)}
    page = reports(chain_placement(["s", *instances], [0] + [1] * 600, instances)).page
    assert texts(page, "#operators th") == ["a 600 instances", "s 1 instance"]
    assert "601 instances are too many to draw" in page.inner_text("#graph")


@pytest.mark.parametrize("name", ["clicks", "<b>__proto__"])
def test_jobs_and_what_they_lose(name: str, browser: Browser, tmp_path: Path) -> None:
    """The page shows the numbers of the result, whose names are never markup."""
    orders, clicks = competing_jobs()
    jobs = Jobs([orders, replace(clicks, name=name)])
    result = place_jobs(jobs, "1x2500", placer="search:evaluations=1000")
    result.save(tmp_path / "out")
    file = tmp_path / "report.html"
    assert main(["report", str(tmp_path / "out" / "together.json"), "-o", str(file)]) == 0
    page = browser.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(file.as_uri())
    rows = [text.split("\t") for text in texts(page, "#jobs tr")]
    assert [row[0].strip() for row in rows] == ["orders", name]
    lost = json.loads((tmp_path / "out" / "result.json").read_text())["jobs"][1]
    assert (lost["lost"], lost["lost_to"]) == (pytest.approx(500), {"orders": pytest.approx(500)})
    cells = [cell.strip() for cell in rows[1]]
    assert cells[1:4] == ["0", "1,000", "500"]
    assert cells[-4:] == ["50.0%", "500", "orders (500)", "device d0"]
    assert [cell.strip() for cell in rows[0]][-3:] == ["0", "", ""]
    assert page.inner_text("#jobs-note").startswith("1 of 2 jobs loses throughput")
    assert "that the jobs get together" in page.inner_text("#figures")
    assert errors == []
    page.close()
