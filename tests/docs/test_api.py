"""The API page tells of every name there is, and of none that there is not."""

import re
from pathlib import Path
from pydoc import locate

import pytest

import streamplace as sp
from tests.policy.jobs import SCRIPTING

PAGE = Path(__file__).resolve().parents[2] / "docs" / "api.md"
TOLD = re.findall(r"^::: (\S+)$", PAGE.read_text(), flags=re.MULTILINE)


def test_every_public_name_is_on_the_page() -> None:
    told = {path.rpartition(".")[2] for path in TOLD}
    assert [name for name in sp.__all__ if name not in told | {"StreamplaceError"}] == []
    assert "streamplace.errors" in TOLD  # where that one is


@pytest.mark.filterwarnings(SCRIPTING)
def test_what_is_on_the_page_exists_once() -> None:
    assert [path for path in TOLD if locate(path) is None] == []
    assert len(set(TOLD)) == len(TOLD)
