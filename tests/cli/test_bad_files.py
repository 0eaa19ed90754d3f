"""Bad files: exit code 2, and one line that names the file, the place and the fault."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from streamplace.cli.main import main
from tests.support.bad_configs import CONFIGS, CONFIGS_OF_RUNS
from tests.support.bad_files import (
    ALL,
    CLUSTERS,
    CONSTRAINTS,
    DREAM,
    EXTREME,
    GRAPHS,
    PLACEMENTS,
    PLACEMENTS_OF_GRAPH,
    SCENES,
)
from tests.support.cli import Capture, one_line, refused, run
from tests.support.errors import Fault
from tests.support.guards import hang_guard
from tests.support.input_files import InputFiles
from tests.support.long import long_after
from tests.support.paths import DATA


def faults(rows: Sequence[Fault]) -> pytest.MarkDecorator:
    """Return a parametrisation with one test per bad file, named after the file."""
    return pytest.mark.parametrize("fault", rows, ids=[file for file, _, _ in rows])


def check(line: str, fault: Fault, folder: Path) -> None:
    """Check the message about a fault, and that nothing was written into the folder."""
    file, place, expected = fault
    after = line.partition(file)[2]
    assert after, f"{line!r} does not name the file"
    assert place in after
    assert re.search(expected, after)
    assert list(folder.iterdir()) == []


@faults([*GRAPHS, *DREAM])
def test_bad_graphs(fault: Fault, tmp_path: Path, capsys: Capture) -> None:
    line = refused(
        capsys, "place", DATA / fault[0], "--placer", "single", "-o", tmp_path / "out.json"
    )
    check(line, fault, tmp_path)


@faults(CLUSTERS)
def test_bad_clusters(fault: Fault, inputs: InputFiles, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "out.json"
    line = refused(capsys, "place", inputs.graph, "--cluster", DATA / fault[0], "-o", out)
    check(line, fault, tmp_path)


@faults(CONSTRAINTS)
def test_bad_constraints(fault: Fault, inputs: InputFiles, tmp_path: Path, capsys: Capture) -> None:
    command = ["place", inputs.graph, "--cluster", inputs.cluster, "--constraints", DATA / fault[0]]
    line = refused(capsys, *command, "-o", tmp_path / "out.json")
    check(line, fault, tmp_path)


@faults(PLACEMENTS)
def test_bad_placements(fault: Fault, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "out.csv"
    line = refused(capsys, "export", DATA / fault[0], "--to", "csv", "-o", out)
    check(line, fault, tmp_path)


@faults(PLACEMENTS_OF_GRAPH)
def test_placements_of_another_graph(
    fault: Fault, inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    check(refused(capsys, "simulate", inputs.graph, DATA / fault[0], "--json"), fault, tmp_path)


@faults(SCENES)
def test_bad_scenes(fault: Fault, inputs: InputFiles, tmp_path: Path, capsys: Capture) -> None:
    command = ["simulate", inputs.graph, inputs.placement, "--model", "engine"]
    outputs = ["--trace", tmp_path / "trace.json", "--plot", tmp_path / "run.png"]
    check(refused(capsys, *command, "--scene", DATA / fault[0], *outputs), fault, tmp_path)


@faults(CONFIGS)
def test_bad_configs(fault: Fault, inputs: InputFiles, tmp_path: Path, capsys: Capture) -> None:
    with hang_guard():
        line = refused(capsys, *training(inputs, fault, tmp_path))
    check(line, fault, tmp_path)


@faults(CONFIGS_OF_RUNS)
def test_configs_that_cannot_be_trained(
    fault: Fault, inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    """The files are valid, so the message need not name them, but training does not start."""
    _, place, expected = fault
    line = refused(capsys, *training(inputs, fault, tmp_path))
    assert place in line
    assert re.search(expected, line)
    assert list(tmp_path.iterdir()) == []


def training(inputs: InputFiles, fault: Fault, folder: Path) -> list[object]:
    """Return the command that trains with a bad config."""
    return ["train", inputs.graph, "--config", DATA / fault[0], "-o", folder / "run"]


@faults([f for f in ALL if not f[0].startswith(("constraints-", "cepsim-", "config-"))])
def test_info_never_raises(fault: Fault, capsys: Capture) -> None:
    """`info` recognises kinds of files by their content, and no content may crash it."""
    assert main(["info", str(DATA / fault[0]), "--json"]) in (0, 2)
    out, err = capsys.readouterr()
    if out:
        json.loads(out, parse_constant=pytest.fail)
    else:
        assert fault[0] in one_line(err)


@pytest.mark.parametrize("file", ["cepsim-rows-are-numbers.json", "cepsim-not-a-list.json"])
def test_info_refuses_a_malformed_cepsim_placement(file: str, capsys: Capture) -> None:
    assert file in refused(capsys, "info", DATA / file)


@pytest.mark.parametrize("file", EXTREME)
def test_extreme_numbers_are_refused_or_give_finite_results(
    file: str, inputs: InputFiles, capsys: Capture
) -> None:
    arguments = [
        "place",
        inputs.graph,
        "--cluster",
        DATA / file,
        "--placer",
        "round-robin",
        "--json",
    ]
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    if code == 0:
        json.loads(out, parse_constant=pytest.fail)  # neither NaN nor Infinity is JSON
    else:
        assert code == 2
        assert file in one_line(err)


def test_every_bad_file_is_tested() -> None:
    listed = [file for file, _, _ in ALL] + list(EXTREME)
    assert sorted(listed) == sorted(path.name for path in DATA.iterdir() if path.is_file())


SEPARATE = (
    "graph-cycle.json",
    "graph-nan.json",
    "graph-load-overflows.json",
    "graph-truncated.json.gz",
)


@pytest.mark.parametrize("file", long_after(1, SEPARATE))
def test_bad_files_in_a_separate_process(file: str, tmp_path: Path) -> None:
    done = run("place", DATA / file, "-o", tmp_path / "out.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert file in one_line(done.stderr)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["3", "null", '"problem"', "[]"])
@pytest.mark.parametrize("command", ["simulate", "simulate GRAPH", "explain", "diff FILE"])
def test_a_placement_that_is_no_object_is_refused(
    command: str, text: str, inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "placement.json"
    file.write_text(text)
    paths = {"GRAPH": inputs.graph, "FILE": file}
    line = refused(capsys, *(paths.get(word, word) for word in command.split()), file)
    assert "placement.json: must be an object (got " in line
