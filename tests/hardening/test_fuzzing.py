"""Fuzzing for a moment where atheris is installed; kept inputs and findings are read everywhere."""

from pathlib import Path

import pytest

from benchmarks.hardening import corpora, fuzzing
from benchmarks.hardening.inputs import document_of, input_of, names_of
from benchmarks.hardening.parsers import PARSERS
from streamplace.errors import CheckpointError, StreamplaceError

needs_atheris = pytest.mark.skipif(
    not fuzzing.installed(), reason="atheris is not installed (pip install -e '.[fuzz]')"
)


@needs_atheris
def test_a_moment_of_one_reader() -> None:
    (row,) = fuzzing.run(3 / fuzzing.SECONDS, readers=["kafka-streams"], keep=False)
    assert row.good, row.faults


def test_without_atheris_nothing_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzzing, "installed", lambda: False)
    (row,) = fuzzing.run()
    assert row.what == "fuzzing: atheris is not installed (pip install -e '.[fuzz]')"
    assert (row.tried, row.good) == (0, False)


def test_a_crash_is_told_with_its_input(tmp_path: Path) -> None:
    (tmp_path / "crash-0a1b").write_bytes(b"bad")
    said = " === Uncaught Python exception: ===\nKeyError: 'x'\nTraceback\nstat::peak_rss_mb: 90\n"
    assert fuzzing._fault(said, tmp_path) == (
        "crash: KeyError: 'x'",
        "crash: KeyError: 'x': b'bad'",
    )
    assert list(tmp_path.iterdir()) == []
    assert fuzzing._fault("stat::peak_rss_mb: 90\n", tmp_path) is None
    assert fuzzing._fault("no module named so", tmp_path) == ("no start", "no module named so")


@pytest.mark.parametrize("name", ["graph", "log", "weights", "checkpoint"])
def test_inputs_stand_for_files(name: str) -> None:
    parser = PARSERS[name]
    names = names_of(parser)
    for document in parser.documents():
        assert document_of(names, input_of(names, document)) == document


def test_what_is_behind_the_hash_is_reached(tmp_path: Path) -> None:
    """A change of a word, and one of no length that is right, are found by what reads words."""
    parser = PARSERS["weights"]
    (document,) = parser.documents()
    for old, new in ((b"device-scorer", b"device-scorar"), (b'"hidden', b'"higher')):
        assert old in document.data
        changed = input_of([document.name], document).replace(old, new)[:-40]
        path = tmp_path / document.name
        path.write_bytes(document_of([document.name], changed).data)
        with pytest.raises(CheckpointError) as refused:
            parser.read(str(path))
        assert "damaged" not in str(refused.value)
        assert "no safetensors" not in str(refused.value)


@pytest.mark.parametrize("name", corpora.kept())
def test_kept_inputs_are_read_or_refused(name: str, tmp_path: Path) -> None:
    """Without instruments: what once was reached is read by every later version."""
    parser = PARSERS[name]
    names, inputs = names_of(parser), tmp_path / "inputs"
    inputs.mkdir()
    assert corpora.unpack(name, inputs) > 0
    for path in sorted(inputs.iterdir()):
        document = document_of(names, path.read_bytes())
        there = tmp_path / document.name
        there.write_bytes(document.data)
        said = "read"
        try:
            parser.use(parser.read(str(tmp_path if parser.of_folder else there)))
        except StreamplaceError as error:
            said = str(error)
        assert len(said.splitlines()) == 1
        there.unlink()
