"""Stdin, stdout, pipes and Ctrl-C, with real processes."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from streamplace.files import read_dataset, read_graph, read_placement
from tests.support.cli import ENVIRONMENT, MODULE, one_line, run
from tests.support.input_files import InputFiles
from tests.support.long import long_after


def shell(line: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run a line of bash, in which `streamplace` is the one of this repository."""
    command = line.replace("streamplace", shlex.join(MODULE))
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        env=ENVIRONMENT,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_placement_through_a_pipe(inputs: InputFiles, tmp_path: Path) -> None:
    place = f"streamplace place - --placer single -o - < {inputs.graph}"
    done = shell(f"{place} | streamplace simulate {inputs.graph} - --json", tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["devices_used"] == 1


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_written_to_nowhere(
    inputs: InputFiles, tmp_path: Path, closed: str
) -> None:
    """A file would otherwise get the number of stdout or stderr, and METIS writes to stdout."""
    place = f"streamplace place {inputs.graph} --devices 3x2500 --placer metis -o p.json"
    done = shell(f"{place} {closed}", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert len(read_placement(tmp_path / "p.json").assignment) == 3
    wrong = shell(f"streamplace place {inputs.graph} --devices x {closed}", tmp_path)
    assert wrong.returncode == 2
    assert shell(f"streamplace info {inputs.graph} {closed}", tmp_path).returncode == 0


def test_worker_processes_have_the_streams_that_were_closed(tmp_path: Path) -> None:
    code = (
        "import os; from streamplace.cli import main as cli; cli._open_closed_streams(); "
        "assert os.get_inheritable(1) and os.get_inheritable(2)"
    )
    program = shlex.join([sys.executable, "-c", code])
    done = subprocess.run(
        ["bash", "-c", f"{program} >&- 2>&-"], env=ENVIRONMENT, cwd=tmp_path, check=False
    )
    assert done.returncode == 0


def test_place_writes_only_the_placement_to_stdout(inputs: InputFiles, tmp_path: Path) -> None:
    done = run("place", inputs.graph, "--placer", "single", "-o", "-")
    assert "placed by single" in done.stderr
    kept = tmp_path / "placement.json"
    kept.write_text(done.stdout)
    assert read_placement(kept).pes == {"d0": ("a", "b", "c")}


def test_a_dataset_through_a_pipe(tmp_path: Path) -> None:
    """`compare -` reads what `generate -o -` writes."""
    compare = "streamplace compare - --placers single --jobs 1 --json"
    done = shell(f"streamplace generate dream --count 3 -o - | {compare}", tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["graphs"] == 3


def test_a_cluster_through_a_pipe(inputs: InputFiles, tmp_path: Path) -> None:
    place = f"streamplace place {inputs.graph} --cluster - --placer single --json"
    done = shell(f"{place} < {inputs.cluster}", tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["devices"]) == 2


@pytest.mark.parametrize("kind", ["cluster", "placement"])
def test_info_recognises_kinds_on_stdin(kind: str, inputs: InputFiles, tmp_path: Path) -> None:
    file = {"cluster": inputs.cluster, "placement": inputs.placement}[kind]
    done = shell(f"streamplace info - --json < {file}", tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["kind"] == kind


def test_stdin_cannot_be_read_twice(inputs: InputFiles, tmp_path: Path) -> None:
    (tmp_path / "job.dot").write_text("digraph { a -> b }")
    for command in (f"diff - - < {inputs.cepsim}", "import - --from dot --costs - < job.dot"):
        done = shell(f"streamplace {command}", tmp_path)
        assert done.returncode == 2
        assert one_line(done.stderr) == "streamplace: stdin: only one input can be -"


@pytest.mark.parametrize(
    "command",
    long_after(
        2,
        [
            "generate dream --count 300 -o -",
            "schema placement",
            "compare dataset:real --placers single,round-robin --jobs 1",
            "info dataset:real/riotbench-etl.json --json",
            "--help",
        ],
    ),
)
def test_a_reader_that_closes_the_pipe(command: str, tmp_path: Path) -> None:
    """A closed pipe may change the exit code, but causes no traceback."""
    done = shell(f"(streamplace {command}; echo code $? >&2) | head -c 1 > /dev/null", tmp_path)
    output = done.stderr.splitlines()
    assert output[-1] in ("code 0", "code 1", "code 141"), done.stderr
    assert not [line for line in output if "Traceback" in line or "Error" in line], done.stderr


def test_a_reader_that_ends_without_reading(tmp_path: Path) -> None:
    done = shell("(sleep 0; exec streamplace schema graph) | true", tmp_path)
    assert "Traceback" not in done.stderr
    assert "Error" not in done.stderr


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize(
    "whole_group",
    [pytest.param(False, id="kill", marks=pytest.mark.long), pytest.param(True, id="terminal")],
)
def test_ctrl_c_leaves_no_file(jobs: str, whole_group: bool, tmp_path: Path) -> None:
    """A terminal sends SIGINT to worker processes too; `kill -INT` to one process only."""
    words = ["generate", "series-parallel", "--count", "100000", "--jobs", jobs]
    process = subprocess.Popen(
        [*MODULE, *words, "-o", str(tmp_path / "x.jsonl.gz")],
        env=ENVIRONMENT,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        wait_for_output(process, tmp_path)
        if whole_group:
            os.killpg(process.pid, signal.SIGINT)
        else:
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    assert process.returncode == 130, err
    assert "interrupted" in one_line(err.lstrip("\n"))  # an empty line ends the terminal's ^C
    assert out == ""
    assert list(tmp_path.iterdir()) == []


def wait_for_output(process: "subprocess.Popen[str]", folder: Path) -> None:
    """Wait until some bytes are written, so that the process has a file to clean up."""
    while process.poll() is None:
        if any(file.stat().st_size for file in folder.iterdir()):
            return
        time.sleep(0.05)
    pytest.fail(f"ended before it wrote anything: {process.communicate()[1]}")


def test_ctrl_c_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "x.jsonl"
    target.write_text("old\n")
    process = subprocess.Popen(
        [*MODULE, "generate", "dream", "--count", "100000", "--jobs", "1", "-o", str(target)],
        env=ENVIRONMENT,
        stderr=subprocess.PIPE,
        text=True,
    )
    while process.poll() is None and len(list(tmp_path.iterdir())) < 2:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    one_line(err.lstrip("\n"))
    assert target.read_text() == "old\n"
    assert list(tmp_path.iterdir()) == [target]


def test_generate_writes_the_same_to_stdout_and_to_a_file(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    run("generate", "dream", "--count", "2", "-o", file)
    done = run("generate", "dream", "--count", "2", "-o", "-")
    assert done.stdout == file.read_text()
    assert [graph.name for graph in read_dataset(file)] == ["dream_0", "dream_1"]


def test_a_shipped_graph_is_read_from_any_folder(tmp_path: Path) -> None:
    done = run("info", "dataset:real/riotbench-etl.json", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["name"] == read_graph("dataset:real/riotbench-etl.json").name


def test_an_output_that_is_a_pipe(inputs: InputFiles) -> None:
    done = run("place", inputs.graph, "--placer", "greedy", "-o", "/dev/stdout")
    assert done.returncode == 0, done.stderr
    written, _ = json.JSONDecoder().raw_decode(done.stdout)  # the summary follows
    assert written["format"] == "streamplace-placement"


def test_names_in_messages_are_printable(tmp_path: Path) -> None:
    """Control characters in names must not reach the terminal."""
    name = "a\x1b[31mred\a"
    streams = [{"source": name, "target": "b"}, {"source": "b", "target": name}]
    operators = [{"name": one, "instructions": 1, "payload_bytes": 1} for one in (name, "b")]
    graph = {"format": "streamplace-graph", "version": 1, "operators": operators}
    (tmp_path / "graph.json").write_text(json.dumps(graph | {"streams": streams}))
    done = run("info", tmp_path / "graph.json")
    assert done.returncode == 2
    assert r"a\x1b[31mred\x07" in one_line(done.stderr)
