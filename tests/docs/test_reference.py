"""The generated pages of the reference, compared with the commands and the public names."""

from pydoc import locate

import streamplace as sp
from docs.reference import SECTIONS, pages
from streamplace.cli.command import UNPROVEN
from streamplace.cli.registered import GROUP
from streamplace.util.entry_points import ours

DOCUMENTED = [path for paths in SECTIONS.values() for path in paths]


def test_every_command_has_a_page() -> None:
    made = pages()
    for name in ours(GROUP):
        first = name.split()[0]
        assert f"## streamplace {name}\n" in made[f"cli/{first}.md"]
        assert f"- [{first}](cli/{first}.md)" in made["cli.md"]
    assert "## streamplace profile flink\n" in made["cli/profile.md"]
    assert f" {UNPROVEN} a limit on latency is not proven" in " ".join(made["cli.md"].split())
    assert "100,000 evaluations" in made["cli/place.md"]  # the help on a terminal leaves it out
    assert [page for page, text in made.items() if "\f" in text] == []


def test_every_public_name_is_on_a_page() -> None:
    documented = {path.rpartition(".")[2] for path in DOCUMENTED}
    assert [name for name in sp.__all__ if name not in documented | {"StreamplaceError"}] == []
    assert "# Errors\n::: streamplace.errors\n" in pages()["api/errors.md"]


def test_fields_of_operators_and_streams_are_on_a_page() -> None:
    text = pages()["api/the-model.md"]
    assert "\n- `memory_bytes`: memory it takes on its device, in bytes\n" in text
    assert "\n- `typical`: selectivity, if it is a guess\n\n::: " in text


def test_every_documented_name_exists_once() -> None:
    assert [path for path in DOCUMENTED if locate(path) is None] == []
    assert len(set(DOCUMENTED)) == len(DOCUMENTED)
