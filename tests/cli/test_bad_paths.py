"""Paths that cannot be read or written: exit code 2, one line, no file left behind."""

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from shutil import ignore_patterns

import pytest

from streamplace.cli.main import main
from tests.support.cli import ENVIRONMENT, Capture, one_line, refused, run, succeeds
from tests.support.input_files import InputFiles
from tests.support.paths import ROOT

TOO_LONG = "n" * 300 + ".json"

READERS = [  # commands that read a file; BAD is its path
    ["place", "BAD"],
    ["place", "GRAPH", "--cluster", "BAD"],
    ["place", "GRAPH", "--constraints", "BAD"],
    ["simulate", "BAD", "CEPSIM"],
    ["simulate", "GRAPH", "BAD"],
    ["compare", "BAD"],
    ["info", "BAD"],
    ["export", "BAD", "--to", "csv"],
    ["diff", "BAD", "BAD"],
    ["profile", "torch", "torch.nn:ReLU", "--input", "3", "--add", "BAD"],
]


def filled(words: list[str], inputs: InputFiles, bad: str) -> list[str]:
    """Return a command line with file names in place of the placeholders."""
    paths = {"BAD": bad, "GRAPH": str(inputs.graph), "CEPSIM": str(inputs.cepsim)}
    return [paths.get(word, word) for word in words]


@pytest.mark.parametrize("words", READERS, ids=" ".join)
def test_a_missing_file(words: list[str], inputs: InputFiles, capsys: Capture) -> None:
    assert "absent.json: no such file" in refused(capsys, *filled(words, inputs, "absent.json"))


@pytest.mark.parametrize("words", [w for w in READERS if w[0] != "info"], ids=" ".join)
def test_a_folder_without_graphs(
    words: list[str], inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    """Only datasets may be folders, and a folder without graphs is refused."""
    (tmp_path / "empty").mkdir()
    assert "empty" in refused(capsys, *filled(words, inputs, str(tmp_path / "empty")))


@pytest.mark.parametrize("words", READERS, ids=" ".join)
def test_a_file_name_that_is_too_long(
    words: list[str], inputs: InputFiles, capsys: Capture
) -> None:
    assert "File name too long" in refused(capsys, *filled(words, inputs, TOO_LONG))


@pytest.mark.parametrize("words", READERS, ids=" ".join)
def test_a_file_below_a_file(words: list[str], inputs: InputFiles, capsys: Capture) -> None:
    refused(capsys, *filled(words, inputs, f"{inputs.graph}/x.json"))


@pytest.mark.parametrize("words", READERS, ids=" ".join)
@pytest.mark.parametrize("name", ["void.json", "void.jsonl", "void.npz"])
@pytest.mark.parametrize("content", ["", " \n"])
def test_an_empty_file(
    words: list[str], name: str, content: str, inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / name).write_text(content)
    assert f"{name}: is empty" in refused(capsys, *filled(words, inputs, f"{tmp_path}/{name}"))


@pytest.mark.parametrize("words", READERS, ids=" ".join)
@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_deep_nesting(
    words: list[str], opening: str, inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    deep = tmp_path / "deep.json"
    deep.write_text(opening * 100_000)
    assert "deep.json: nested too deeply" in refused(capsys, *filled(words, inputs, str(deep)))


def writers(inputs: InputFiles) -> list[list[str]]:
    """Return commands that write a file, without the file's name at the end."""
    graph = str(inputs.graph)
    return [
        ["place", graph, "--placer", "single", "-o"],
        ["generate", "dream", "--count", "2", "-o"],
    ]


@pytest.mark.parametrize("writer", [0, 1], ids=["place", "generate"])
@pytest.mark.parametrize(
    "target",
    ["no/such/folder/x.jsonl", "file/x.jsonl", "folder.jsonl", "n" * 300 + ".jsonl"],
)
def test_an_output_that_cannot_be_written(
    writer: int, target: str, inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder.jsonl").mkdir()
    line = refused(capsys, *writers(inputs)[writer], tmp_path / target)
    assert f"{target}: cannot write" in line
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder.jsonl"]
    assert list((tmp_path / "folder.jsonl").iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder(inputs: InputFiles, tmp_path: Path, capsys: Capture) -> None:
    tmp_path.chmod(0o500)
    try:
        line = refused(capsys, *writers(inputs)[1], tmp_path / "x.jsonl")
    finally:
        tmp_path.chmod(0o700)
    assert "Permission denied" in line


@pytest.mark.skipif(
    not Path("/proc/self").exists(), reason="needs a folder that does not accept files"
)
def test_a_folder_in_which_no_file_can_be_created(inputs: InputFiles, capsys: Capture) -> None:
    assert "cannot write" in refused(capsys, *writers(inputs)[1], "/proc/x.jsonl")


def test_the_longest_file_name(inputs: InputFiles, tmp_path: Path, capsys: Capture) -> None:
    """The temporary file's name must not be too long if the target's is not."""
    name = "n" * 250 + ".json"
    succeeds(capsys, *writers(inputs)[0], tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_named_pipe_is_written_to_or_refused_but_not_replaced(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    """Replacing special files would be dangerous: root could even replace /dev/null."""
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        code = main([*writers(inputs)[0], str(pipe)])
    finally:
        os.close(reader)
    assert code in (0, 2)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize("where", ["file", "file/x"])
def test_compare_and_init_refuse_a_file_as_their_folder(
    where: str, inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "file").touch()
    assert "cannot create folder" in refused(capsys, "init", tmp_path / where)
    command = ["compare", inputs.graph, "--placers", "single", "--jobs", "1"]
    assert "cannot create folder" in refused(capsys, *command, "-o", tmp_path / where)


def test_init_with_a_folder_name_that_is_too_long(tmp_path: Path, capsys: Capture) -> None:
    assert "File name too long" in refused(capsys, "init", tmp_path / TOO_LONG)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    "words", [["info", "GRAPH"], ["info", "GRAPH", "--json"], ["generate", "dream", "-o", "-"]]
)
def test_a_full_disk_behind_stdout(words: list[str], inputs: InputFiles) -> None:
    with open("/dev/full", "w") as full:
        done = run(*filled(words, inputs, ""), stdout=full)
    assert done.returncode in (1, 2)
    assert "No space left" in one_line(done.stderr)


def test_stdin_closed() -> None:
    done = run("info", "-", preexec_fn=lambda: os.close(0))
    assert done.returncode == 2
    one_line(done.stderr)


def test_a_file_whose_name_is_a_word_of_the_message(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is named even if the message happens to start with the same word."""
    monkeypatch.chdir(tmp_path)
    for name in ("s", "source_rate"):
        Path(name).write_text('{"operators": [{"name": "a", "instructions": 1}]}')
        line = refused(capsys, "place", name)
        assert line.startswith(f"streamplace: {name}: source_rate: ")


def test_names_that_stdout_cannot_encode(tmp_path: Path) -> None:
    graph = {"operators": [{"name": "frühling", "instructions": 1}], "source_rate": 1}
    (tmp_path / "g.json").write_text(json.dumps(graph))
    done = run("place", tmp_path / "g.json", env={**ENVIRONMENT, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0, done.stderr
    assert "fr\\xfchling" in done.stdout


@pytest.mark.long
def test_kernels_compile_without_a_writable_cache(tmp_path: Path) -> None:
    """In some containers, users can write neither to the packages nor to a home folder."""
    package = tmp_path / "streamplace"
    shutil.copytree(ROOT / "streamplace", package, ignore=ignore_patterns("__pycache__"))
    (package / "sim" / "__pycache__").write_text("in the way")
    (tmp_path / "g.json").write_text(
        '{"operators": [{"name": "a", "instructions": 1}], "source_rate": 1}'
    )
    (tmp_path / "home").write_text("no folder")
    done = subprocess.run(
        [sys.executable, "-m", "streamplace.cli.main", "place", "g.json", "--placer", "single"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={"HOME": str(tmp_path / "home"), "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
