"""Fuzzing for a moment if atheris is installed, and the seeds of earlier fuzzing."""

from pathlib import Path

import pytest

from benchmarks.hardening.campaigns.fuzzing import campaign
from benchmarks.hardening.campaigns.fuzzing.inputs import document_of, input_of, names_of
from benchmarks.hardening.corpus import seed_archives
from benchmarks.hardening.targets.parsers import PARSERS
from streamplace.errors import CheckpointError, StreamplaceError

needs_atheris = pytest.mark.skipif(
    not campaign.installed(), reason="atheris is not installed (pip install -e '.[fuzz]')"
)


@needs_atheris
def test_one_reader_is_fuzzed_for_a_moment() -> None:
    """Hangs are not checked, since they are measured times; libFuzzer ends inputs that hang."""
    (row,) = campaign.run(8 / campaign.CPU_SECONDS, readers=["kafka-streams"], keep=False)
    assert row.tried > 0
    assert row.wrong["crashes"] == 0, row.faults


def test_without_atheris_nothing_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign, "installed", lambda: False)
    (row,) = campaign.run()
    assert row.what == "fuzzing: atheris is not installed (pip install -e '.[fuzz]')"
    assert (row.tried, row.good) == (0, False)


def test_a_crash_is_reported_with_its_input(tmp_path: Path) -> None:
    (tmp_path / "crash-0a1b").write_bytes(b"bad")
    output = (
        " === Uncaught Python exception: ===\nKeyError: 'x'\nTraceback\nstat::peak_rss_mb: 90\n"
    )
    assert campaign._fault(output, tmp_path) == (
        "crash: KeyError: 'x'",
        "crash: KeyError: 'x': b'bad'",
    )
    assert list(tmp_path.iterdir()) == []
    assert campaign._fault("stat::peak_rss_mb: 90\n", tmp_path) is None
    assert campaign._fault("no module named so", tmp_path) == ("no start", "no module named so")


@pytest.mark.parametrize("name", ["graph", "log", "weights", "checkpoint"])
def test_fuzzing_inputs_convert_to_files_and_back(name: str) -> None:
    parser = PARSERS[name]
    names = names_of(parser)
    for document in parser.documents():
        assert document_of(names, input_of(names, document)) == document


def test_the_code_behind_the_check_of_the_hash_is_reached(tmp_path: Path) -> None:
    """The reader of metadata refuses changed metadata, even in a file of the wrong length."""
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


@pytest.mark.parametrize("name", seed_archives.readers_with_seeds())
def test_seeds_are_read_or_refused(name: str, tmp_path: Path) -> None:
    """Inputs that fuzzing found with earlier versions cause no unexpected error."""
    parser = PARSERS[name]
    names, inputs = names_of(parser), tmp_path / "inputs"
    inputs.mkdir()
    assert seed_archives.unpack(name, inputs) > 0
    for path in sorted(inputs.iterdir()):
        document = document_of(names, path.read_bytes())
        path_read = tmp_path / document.name
        path_read.write_bytes(document.data)
        output = "read"
        try:
            parser.use(parser.read(str(tmp_path if parser.takes_folder else path_read)))
        except StreamplaceError as error:
            output = str(error)
        assert len(output.splitlines()) == 1
        path_read.unlink()
