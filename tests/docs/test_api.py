"""The API page, compared with the public names."""

import re
from pydoc import locate

import pytest

import streamplace as sp
from tests.support.paths import ROOT
from tests.support.policies import SCRIPTING

PAGE = ROOT / "docs" / "api.md"
DOCUMENTED = re.findall(r"^::: (\S+)$", PAGE.read_text(), flags=re.MULTILINE)


def test_every_public_name_is_on_the_page() -> None:
    documented = {path.rpartition(".")[2] for path in DOCUMENTED}
    assert [name for name in sp.__all__ if name not in documented | {"StreamplaceError"}] == []
    assert "streamplace.errors" in DOCUMENTED  # where that one is


@pytest.mark.filterwarnings(SCRIPTING)
def test_what_is_on_the_page_exists_once() -> None:
    assert [path for path in DOCUMENTED if locate(path) is None] == []
    assert len(set(DOCUMENTED)) == len(DOCUMENTED)
