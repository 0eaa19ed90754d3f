"""Tests for the page's throughput model, compared with Python on 1,250 placements."""

from typing import Any

from playwright.sync_api import Browser

from benchmarks.hardening.campaigns.invariants.page_comparison import compared, in_page

SLIGHT_ERROR = 1.0 + 1e-8


def test_model_and_python_agree(browser: Browser) -> None:
    tally = compared(1250, 0, "Chromium", in_page(browser.new_page()))
    assert tally.tried == 1250
    assert tally.faults == []


def test_a_slightly_wrong_load_is_detected(browser: Browser) -> None:
    evaluate = in_page(browser.new_page())

    def with_wrong_loads(batch: list[Any]) -> list[Any]:
        scores = evaluate(batch)
        for shown in scores:
            shown["devices"] = [load * SLIGHT_ERROR for load in shown["devices"]]
        return scores

    assert compared(12, 0, "Chromium", with_wrong_loads).violations > 6
