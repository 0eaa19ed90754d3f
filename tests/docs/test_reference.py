"""The generated pages of the reference, compared with the commands and the public names."""

from pydoc import locate

import streamplace as sp
from docs.reference import SECTIONS, api_page, cli_page
from streamplace.cli.command import UNPROVEN
from streamplace.cli.registered import GROUP
from streamplace.util.entry_points import ours

DOCUMENTED = [path for paths in SECTIONS.values() for path in paths]


def test_every_command_is_on_the_page() -> None:
    text = cli_page()
    assert [name for name in ours(GROUP) if f"## streamplace {name}\n" not in text] == []
    assert "## streamplace profile flink\n" in text
    assert f" {UNPROVEN} a limit on latency is not proven" in " ".join(text.split())
    of_place = text.partition("## streamplace place\n")[2].partition("## ")[0]
    assert "100,000 evaluations" in of_place  # which the help on a terminal leaves out
    assert "\f" not in text


def test_every_public_name_is_on_the_page() -> None:
    documented = {path.rpartition(".")[2] for path in DOCUMENTED}
    assert [name for name in sp.__all__ if name not in documented | {"StreamplaceError"}] == []
    assert "## Errors\n::: streamplace.errors\n" in api_page()


def test_fields_of_operators_and_streams_are_on_the_page() -> None:
    text = api_page()
    assert "\n- `memory_bytes`: memory it takes on its device, in bytes\n" in text
    assert "\n- `key_shares`: key: its share of the tuples of a hash stream\n\n::: " in text


def test_every_documented_name_exists_once() -> None:
    assert [path for path in DOCUMENTED if locate(path) is None] == []
    assert len(set(DOCUMENTED)) == len(DOCUMENTED)
