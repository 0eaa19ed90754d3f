"""The search of the documentation's site, asked what its readers ask."""

from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser

from tests.support.paths import ROOT

SITE = ROOT / "site"
ITEMS = ".md-search-result__item > .md-search-result__link"
QUESTIONS = {
    "how many machines": "plan/",
    "how many instances": "size/",
    "machine fails": "constraints/",
    "memory buffer": "training/",
    "KB": "own-graph/",
    "pin operator": "constraints/",
    "train a policy": "training/",
    "latency limit": "latency/",
    "kubernetes": "engines/kubernetes/",
    "spreadsheet": "own-graph/",
    "flink sql": "engines/flink/",
    "own algorithm": "own-placer/",
}


class Quiet(SimpleHTTPRequestHandler):
    """A handler that logs no request."""

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    if not (SITE / "index.html").exists():
        pytest.skip("needs the site (make docs)")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=SITE))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(("question", "page"), QUESTIONS.items())
def test_a_question_finds_its_page_among_the_first_two(
    browser: Browser, address: str, question: str, page: str
) -> None:
    tab = browser.new_page()
    tab.goto(f"{address}?q={quote(question)}")
    tab.locator(ITEMS).first.wait_for()
    links = tab.eval_on_selector_all(ITEMS, "items => items.slice(0, 2).map(item => item.href)")
    tab.close()
    assert page in [link.removeprefix(address).partition("?")[0] for link in links]
