"""Every bad file: exit 2, one line that names file, place and fault, and nothing written."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from streamplace.cli.main import main
from tests.cli.command import DATA, Capture, one_line, refused, run
from tests.cli.conftest import Job
from tests.cli.faults import (
    ALL,
    CLUSTERS,
    CONFIGS,
    CONFIGS_OF_RUNS,
    CONSTRAINTS,
    DREAM,
    EXTREME,
    GRAPHS,
    OF_THE_JOB,
    PLACEMENTS,
    SCENES,
    Fault,
)
from tests.training.runs import ends


def faults(rows: Sequence[Fault]) -> pytest.MarkDecorator:
    """Return a test per bad file, named after it."""
    return pytest.mark.parametrize("fault", rows, ids=[file for file, _, _ in rows])


def check(line: str, fault: Fault, folder: Path) -> None:
    """Check what is said of a fault, and that nothing was written into the folder."""
    file, place, said = fault
    after = line.partition(file)[2]
    assert after, f"{line!r} does not name the file"
    assert place in after
    assert re.search(said, after)
    assert list(folder.iterdir()) == []


@faults([*GRAPHS, *DREAM])
def test_graphs(fault: Fault, tmp_path: Path, capsys: Capture) -> None:
    line = refused(
        capsys, "place", DATA / fault[0], "--placer", "single", "-o", tmp_path / "out.json"
    )
    check(line, fault, tmp_path)


@faults(CLUSTERS)
def test_clusters(fault: Fault, job: Job, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "out.json"
    line = refused(capsys, "place", job.graph, "--cluster", DATA / fault[0], "-o", out)
    check(line, fault, tmp_path)


@faults(CONSTRAINTS)
def test_constraints(fault: Fault, job: Job, tmp_path: Path, capsys: Capture) -> None:
    command = ["place", job.graph, "--cluster", job.cluster, "--constraints", DATA / fault[0]]
    line = refused(capsys, *command, "-o", tmp_path / "out.json")
    check(line, fault, tmp_path)


@faults(PLACEMENTS)
def test_placements(fault: Fault, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "out.csv"
    line = refused(capsys, "export", DATA / fault[0], "--to", "csv", "-o", out)
    check(line, fault, tmp_path)


@faults(OF_THE_JOB)
def test_placements_of_a_given_graph(
    fault: Fault, job: Job, tmp_path: Path, capsys: Capture
) -> None:
    check(refused(capsys, "simulate", job.graph, DATA / fault[0], "--json"), fault, tmp_path)


@faults(SCENES)
def test_scenes(fault: Fault, job: Job, tmp_path: Path, capsys: Capture) -> None:
    command = ["simulate", job.graph, job.placement, "--model", "engine"]
    watched = ["--trace", tmp_path / "trace.json", "--plot", tmp_path / "run.png"]
    check(refused(capsys, *command, "--scene", DATA / fault[0], *watched), fault, tmp_path)


@faults(CONFIGS)
def test_configs(fault: Fault, job: Job, tmp_path: Path, capsys: Capture) -> None:
    with ends():
        line = refused(capsys, *training(job, fault, tmp_path))
    check(line, fault, tmp_path)


@faults(CONFIGS_OF_RUNS)
def test_configs_of_which_no_run_can_be_made(
    fault: Fault, job: Job, tmp_path: Path, capsys: Capture
) -> None:
    """They are read without fault, so that the file need not be named; but nothing starts."""
    _, place, said = fault
    line = refused(capsys, *training(job, fault, tmp_path))
    assert place in line
    assert re.search(said, line)
    assert list(tmp_path.iterdir()) == []


def training(job: Job, fault: Fault, folder: Path) -> list[object]:
    """Return the command that would train by a bad config."""
    return ["train", job.graph, "--config", DATA / fault[0], "-o", folder / "run"]


@faults([f for f in ALL if not f[0].startswith(("constraints-", "cepsim-", "config-"))])
def test_info_never_raises(fault: Fault, capsys: Capture) -> None:
    """`info` tells kinds apart by looking, and must not stumble while it looks."""
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
    file: str, job: Job, capsys: Capture
) -> None:
    arguments = ["place", job.graph, "--cluster", DATA / file, "--placer", "round-robin", "--json"]
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    if code == 0:
        json.loads(out, parse_constant=pytest.fail)  # neither NaN nor Infinity is JSON
    else:
        assert code == 2
        assert file in one_line(err)


def test_every_bad_file_is_tested() -> None:
    listed = [file for file, _, _ in ALL] + list(EXTREME)
    assert sorted(listed) == sorted(path.name for path in DATA.iterdir())


@pytest.mark.parametrize(
    "file",
    ["graph-cycle.json", "graph-nan.json", "graph-load-overflows.json", "graph-truncated.json.gz"],
)
def test_as_a_process(file: str, tmp_path: Path) -> None:
    done = run("place", DATA / file, "-o", tmp_path / "out.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert file in one_line(done.stderr)
    assert list(tmp_path.iterdir()) == []
