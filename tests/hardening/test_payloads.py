"""Malicious files in place of every file that is read: their content is never executed."""

import json
import sys
from contextlib import chdir
from pathlib import Path

import pytest

from streamplace import place
from streamplace.errors import StreamplaceError
from streamplace.files import write_dataset
from tests.corpus.line_graph import line_graph
from tests.corpus.own_files import CONFIG_VALUE, weights
from tests.corpus.payloads import (
    Payload,
    is_harmful,
    payloads,
    was_executed,
    write_module,
)
from tests.hardening import readers
from tests.hardening.target import message_of
from tests.hardening.targets.readers import READERS

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def malicious(tmp_path_factory: pytest.TempPathFactory) -> list[Payload]:
    folder = tmp_path_factory.mktemp("payloads")
    write_dataset(folder / "graph.npz", [line_graph()])
    place(line_graph(), placer="single").save(folder / "placement.json")
    placement = json.loads((folder / "placement.json").read_text())
    return payloads(weights(), folder / "graph.npz", CONFIG_VALUE, placement)


def test_every_payload_harms_its_unsafe_reader(malicious: list[Payload], tmp_path: Path) -> None:
    write_module(tmp_path)
    with chdir(tmp_path):
        assert [one.name for one in malicious if not is_harmful(one)] == []
        assert not is_harmful(Payload("text", b"hello", bytes.decode))


@pytest.mark.parametrize("name", readers.TARGETS)
def test_no_payload_is_executed(
    name: str, malicious: list[Payload], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The module that some payloads name can be imported."""
    reader = READERS[name]
    write_module(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for ending in {document.name for document in readers.documents(name)}:
        for payload in malicious:
            path = tmp_path / ending
            path.write_bytes(payload.data)
            try:
                reader.use(reader.read(str(tmp_path if reader.takes_folder else path)))
            except StreamplaceError as error:
                message_of(error)
            assert not was_executed(), payload.name
    assert "evil_module" not in sys.modules
