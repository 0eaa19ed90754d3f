"""The API page, compared with the public names."""

from pydoc import locate
from types import SimpleNamespace

import pytest

import streamplace as sp
from docs.api_page import PAGE, SECTIONS, on_page_markdown, page
from tests.support.policies import SCRIPTING

DOCUMENTED = [path for paths in SECTIONS.values() for path in paths]


@pytest.mark.filterwarnings(SCRIPTING)
def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "run `python -m docs.api_page`"


def test_every_public_name_is_on_the_page() -> None:
    documented = {path.rpartition(".")[2] for path in DOCUMENTED}
    assert [name for name in sp.__all__ if name not in documented | {"StreamplaceError"}] == []
    assert "streamplace.errors" in DOCUMENTED  # the module of StreamplaceError


@pytest.mark.filterwarnings(SCRIPTING)
def test_every_documented_name_exists_once() -> None:
    assert [path for path in DOCUMENTED if locate(path) is None] == []
    assert len(set(DOCUMENTED)) == len(DOCUMENTED)


def test_the_site_shows_full_docstrings() -> None:
    api, other = (SimpleNamespace(file=SimpleNamespace(src_uri=u)) for u in ("api.md", "faq.md"))
    assert "## Errors\n::: streamplace.errors\n" in on_page_markdown("", api)
    assert on_page_markdown("text", other) == "text"
