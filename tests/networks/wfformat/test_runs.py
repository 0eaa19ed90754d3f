"""The reader of recorded workflows, and the placements that it writes."""

import copy
import gzip
import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from streamplace import read_cluster, read_placement
from streamplace.formats.documents import read_document as read_file
from streamplace.problem.cluster import Device, Network
from streamplace.problem.logical import LogicalGraph
from tests.corpus.engine_documents.workflows import DIVIDED, UNDIVIDED
from tests.support.cli import Capture, refused, succeeds
from tests.support.documents import edges, read_document, refused_document
from tests.support.makespan_problems import makespan_score
from tests.support.released_data import SHARED

RUNS = SHARED / "wfinstances"
Change = Callable[[dict[str, Any]], object]


def read(value: Any) -> LogicalGraph:
    return read_document("wfformat", json.dumps(value))


def changed(document: dict[str, Any], change: Change) -> dict[str, Any]:
    """Return a copy of a document after a change of its workflow."""
    value = copy.deepcopy(document)
    change(value["workflow"])
    return value


def notes_of(job: LogicalGraph) -> str:
    return "\n".join(job.notes)


def tasks_of(workflow: dict[str, Any]) -> Any:
    return workflow["specification"]["tasks"]


def runs_of(workflow: dict[str, Any]) -> Any:
    return workflow["execution"]["tasks"]


def test_version_1_5() -> None:
    job = read(DIVIDED)
    graph, (left, right) = job.graph, ("x86_64 AMD 4 cores", "x86_64 4 cores")
    assert graph.name == "maps"
    assert graph.names == ("cut_1", "draw_2", "draw_3", "join_4")
    assert {graph.names[v]: dict(seconds) for v, seconds in graph.seconds_on.items()} == {
        "cut_1": {left: 4.0},
        "draw_2": {left: 10.0},
        "draw_3": {right: 9.0},
        "join_4": {left: 2.5},
    }
    assert [each.cores for each in graph.operators] == [1, 2, 1, 1]
    assert [each.type for each in graph.operators] == ["", "draw", "", ""]
    assert {(s.source, s.target): s.payload_bytes for s in graph.streams} == {
        ("cut_1", "draw_2"): 5e8,
        ("cut_1", "draw_3"): 5e8 + 2000,
        ("draw_2", "join_4"): 3e7,
        ("draw_3", "join_4"): 4e7,
    }
    assert (graph.firing, graph.multicast) == ("all", "device")
    assert job.cluster is not None
    assert job.cluster.devices == (
        Device("left", 1.0, 4, memory_bytes=64e9, kind=left),
        Device("right", 1.0, 4, kind=right),
    )
    assert job.cluster.network == Network("nic", 1000.0, 0.001)
    assert job.assignment == {
        "cut_1": "left",
        "draw_2": "left",
        "draw_3": "right",
        "join_4": "left",
    }


def test_notes_on_what_is_not_stated() -> None:
    notes = notes_of(read(DIVIDED))
    assert "4 tasks, 6 files of 1.53e+09 bytes, 2 machines; measured makespan 31.5 s" in notes
    assert "1 of 4 tasks with several machines; the first one counts" in notes
    assert "3 of 4 tasks without cores; 1 is assumed" in notes
    assert "1 of 2 machines without memory; no limit is assumed" in notes
    assert "no bandwidth is stated; assumed: nic links of 1000 Mbit/s and 0.001 s" in notes
    assert "clocks of processors are not read" in notes
    assert "1 of 4 tasks with memory; it is not read" in notes
    assert "1 file of 9e+08 bytes that no task writes" in notes


def test_version_1_4() -> None:
    job = read(UNDIVIDED)
    kind = "AMD 4 cores"
    assert edges(job) == [("cut_ID1", "draw_ID2")]
    assert [dict(s) for s in job.graph.seconds_on.values()] == [{kind: 4.0}, {kind: 10.0}]
    assert [each.cores for each in job.graph.operators] == [1, 2]  # a fraction is rounded up
    assert job.graph.stream_payload_bytes.tolist() == [500]
    assert job.assignment == {"cut_ID1": "left", "draw_ID2": "right"}
    assert job.cluster is not None
    assert [device.cores for device in job.cluster.devices] == [4, 4]
    assert "2 tasks, 3 files of 1430 bytes, 2 machines; measured makespan 20 s" in notes_of(job)


def test_older_names_of_fields() -> None:
    text = json.dumps(UNDIVIDED)
    for new, old in (
        ("makespanInSeconds", "makespan"),
        ("runtimeInSeconds", "runtime"),
        ("sizeInBytes", "size"),
        ("tasks", "jobs"),
    ):
        text = text.replace(f'"{new}"', f'"{old}"')
    older, newer = read(json.loads(text)), read(UNDIVIDED)
    assert older.graph.sha256 == newer.graph.sha256
    assert [each for each in older.notes if "count as bytes" not in each] == newer.notes
    assert "sizes of files count as bytes, as in WfCommons's migration" in notes_of(older)


def test_memory_was_in_kb_before_version_1_4() -> None:
    def older(workflow: dict[str, Any]) -> None:
        workflow["machines"][0]["memory"] = 64_000_000
        workflow["tasks"][0]["memory"] = 1000

    job = read(changed(UNDIVIDED, older))
    assert job.cluster is not None
    assert job.cluster.devices[0].memory_bytes == 64e9
    assert "1 of 2 machines without memory" in notes_of(job)
    assert "1 of 2 tasks with memory; it is not read" in notes_of(job)


def test_tasks_are_found_by_id_and_by_name_with_id() -> None:
    def names_parent(workflow: dict[str, Any], word: str) -> None:
        workflow["tasks"][1]["parents"] = [word]

    for word in ("ID1", "cut_ID1_ID1"):
        job = read(changed(UNDIVIDED, partial(names_parent, word=word)))
        assert edges(job) == [("cut_ID1", "draw_ID2")]

    def same_names(workflow: dict[str, Any]) -> None:
        for task in workflow["tasks"]:
            task.update(name="work", parents=[], children=[])
        workflow["tasks"][1]["parents"] = ["work_ID1"]

    assert edges(read(changed(UNDIVIDED, same_names))) == [("work_ID1", "work_ID2")]


def test_children_and_files_imply_streams() -> None:
    def no_parents(workflow: dict[str, Any]) -> None:
        for task in tasks_of(workflow):
            task["parents"] = []

    def no_relatives(workflow: dict[str, Any]) -> None:
        for task in tasks_of(workflow):
            task.update(parents=[], children=[])

    whole = read(DIVIDED)
    assert read(changed(DIVIDED, no_parents)).graph.sha256 == whole.graph.sha256
    implied = read(changed(DIVIDED, no_relatives))
    assert implied.graph.sha256 == whole.graph.sha256
    assert "in 4 pairs of tasks, one reads a file of the other; it is taken as" in notes_of(implied)


def test_independent_tasks_are_noted() -> None:
    def apart(workflow: dict[str, Any]) -> None:
        for task in tasks_of(workflow):
            task.update(parents=[], children=[], inputFiles=[])

    job = read(changed(DIVIDED, apart))
    assert not edges(job)
    assert "no task depends on another, since the file states neither parents" in notes_of(job)
    assert "no task depends" not in notes_of(read(DIVIDED))


def test_pairs_without_files_are_noted() -> None:
    """As where a generator leaves the files out that tasks write."""

    def written_by_nobody(workflow: dict[str, Any]) -> None:
        for task in tasks_of(workflow):
            task["outputFiles"] = []

    job = read(changed(DIVIDED, written_by_nobody))
    assert [stream.payload_bytes for stream in job.graph.streams] == [0.0] * 4
    assert "in 4 of 4 pairs of parent and child, the child reads no file that the" in notes_of(job)
    assert "pairs of parent and child" not in notes_of(read(DIVIDED))


def test_files_do_not_make_tasks_wait_for_each_other() -> None:
    """The first task reads a file that its child writes again."""

    def updated(workflow: dict[str, Any]) -> None:
        tasks_of(workflow)[0]["inputFiles"].append("map.png")

    job = read(changed(DIVIDED, updated))
    assert edges(job) == edges(read(DIVIDED))
    assert "these files are not passed on" in notes_of(job)


def test_a_task_may_change_its_own_file() -> None:
    def in_place(workflow: dict[str, Any]) -> None:
        tasks_of(workflow)[0]["inputFiles"].append("tiles.bin")

    assert edges(read(changed(DIVIDED, in_place))) == edges(read(DIVIDED))


def test_parents_without_files() -> None:
    def no_files(workflow: dict[str, Any]) -> None:
        tasks_of(workflow)[3]["inputFiles"] = []

    job = read(changed(DIVIDED, no_files))
    assert edges(job) == edges(read(DIVIDED))
    assert job.graph.stream_payload_bytes.tolist()[2:] == [0, 0]


def test_a_task_that_deals_out_files_sends_each() -> None:
    """With one message per device, one of the two files would be lost."""

    def dealt(workflow: dict[str, Any]) -> None:
        tasks_of(workflow)[2]["inputFiles"] = ["legend.txt"]

    job = read(changed(DIVIDED, dealt))
    assert job.graph.multicast == "none"
    assert not [note for note in job.notes if "message" in note]

    def mixed(workflow: dict[str, Any]) -> None:
        """Let both children read the tiles, and each a small file of its own."""
        workflow["specification"]["files"].append({"id": "key.txt", "sizeInBytes": 2000})
        tasks_of(workflow)[0]["outputFiles"].append("key.txt")
        tasks_of(workflow)[1]["inputFiles"].append("key.txt")

    job = read(changed(DIVIDED, mixed))
    assert job.graph.multicast == "device"
    assert "(at most 2e+03 bytes too few)" in notes_of(job)


def test_sizes_that_are_not_stated_stay_unknown() -> None:
    job = read(changed(DIVIDED, lambda w: w["specification"]["files"][1].pop("sizeInBytes")))
    assert "1 of 6 files without size" in notes_of(job)
    assert len(job.graph.lacking) > 0
    job = read(changed(DIVIDED, lambda w: w["specification"].pop("files")))
    assert "6 of 6 files without size" in notes_of(job)


def test_the_only_machine_ran_what_names_none() -> None:
    def one(workflow: dict[str, Any]) -> None:
        for run in runs_of(workflow):
            del run["machines"]
        workflow["execution"]["machines"].pop()

    job = read(changed(DIVIDED, one))
    assert {*(job.assignment or {}).values()} == {"left"}
    assert "4 of 4 tasks without machine; they ran on the only one" in notes_of(job)


def test_a_task_without_machine_among_several() -> None:
    job = read(changed(DIVIDED, lambda w: runs_of(w)[0].pop("machines")))
    assert job.assignment is None
    assert "1 of 4 tasks without machine; so there is no recorded placement" in notes_of(job)
    assert job.cluster is not None  # its kinds differ, so that the time could be of either
    assert {device.kind for device in job.cluster.devices} == {"machine"}
    assert {kind for seconds in job.graph.seconds_on.values() for kind in seconds} == {"machine"}


def test_machines_that_only_tasks_name() -> None:
    job = read(changed(DIVIDED, lambda w: w["execution"].pop("machines")))
    assert job.cluster is not None
    assert job.cluster.names == ("left", "right")
    assert "2 of 2 machines named by tasks only; nothing is stated" in notes_of(job)
    assert "2 of 2 machines without cores; 1 is assumed" in notes_of(job)


def test_a_specification_alone() -> None:
    job = read(changed(DIVIDED, lambda w: w.pop("execution")))
    assert job.cluster is None
    assert job.assignment is None
    notes = notes_of(job)
    assert "4 of 4 tasks without run time; set instructions in a costs file" in notes
    assert "no machine is stated; run times are those of devices of kind 'machine'" in notes
    assert notes.startswith("4 tasks, 6 files of 1.53e+09 bytes, 0 machines; no measured makespan")


def test_a_generated_workflow_of_version_1_6() -> None:
    """As wfcommons 1.6 writes it: 1.5 with sums, and a makespan of 0 since it never ran."""

    def generated(workflow: dict[str, Any]) -> None:
        workflow["specification"]["metrics"] = {"numberOfTasks": 4, "numberOfLevels": 3}
        workflow["execution"]["metrics"] = {"sumTaskRuntimesInSeconds": 30.0}
        workflow["execution"]["makespanInSeconds"] = 0.0

    job = read({**changed(DIVIDED, generated), "schemaVersion": "1.6"})
    assert job.graph.sha256 == read(DIVIDED).graph.sha256
    assert "; no measured makespan" in notes_of(job)


def bad() -> Iterator[tuple[Change, str]]:
    """Changes of the document of version 1.5, and what the message says."""

    def spec(field: str, i: int, **values: Any) -> Change:
        return lambda w: w["specification"][field][i].update(values)

    def run(i: int, **values: Any) -> Change:
        return lambda w: runs_of(w)[i].update(values)

    here, run_at = "workflow.specification", "workflow.execution"
    yield spec("tasks", 1, id="cut_1"), f"{here}.tasks[1].id: 'cut_1' appears twice"
    yield spec("files", 1, id="world.tif"), f"{here}.files[1].id: 'world.tif' appears twice"
    yield run(1, id="cut_1"), f"{run_at}.tasks[1].id: 'cut_1' appears twice"
    yield (
        run(1, id="drew_2"),
        f"{run_at}.tasks[1].id: unknown task 'drew_2'; did you mean 'draw_2'?",
    )
    yield (
        lambda w: w["execution"]["machines"][1].update(nodeName="left"),
        f"{run_at}.machines[1].nodeName: 'left' appears twice",
    )
    yield spec("tasks", 3, parents=["x"]), f"{here}.tasks[3].parents[0]: unknown task 'x'"
    yield spec("tasks", 3, children=["x"]), f"{here}.tasks[3].children[0]: unknown task 'x'"
    yield spec("tasks", 3, inputFiles=["x"]), f"{here}.tasks[3].inputFiles[0]: unknown file 'x'"
    yield spec("tasks", 0, outputFiles=["x"]), f"{here}.tasks[0].outputFiles[0]: unknown file 'x'"
    yield spec("tasks", 0, parents=["join_4"]), "cycle"
    yield spec("tasks", 0, parents=["cut_1"]), "cut_1"
    yield spec("files", 0, sizeInBytes=-1), f"{here}.files[0].sizeInBytes"
    yield spec("files", 0, sizeInBytes="1 GB"), f"{here}.files[0].sizeInBytes"
    yield run(0, runtimeInSeconds=-1), f"{run_at}.tasks[0].runtimeInSeconds"
    yield run(0, runtimeInSeconds=float("nan")), f"{run_at}.tasks[0].runtimeInSeconds"
    yield run(0, runtimeInSeconds=True), f"{run_at}.tasks[0].runtimeInSeconds"
    yield run(0, runtimeInSeconds=1e300), "seconds_on"
    yield run(0, coreCount=1e300), "cores"
    yield run(0, machines="left"), f"{run_at}.tasks[0].machines"
    yield run(0, machines=[""]), f"{run_at}.tasks[0].machines[0]"
    yield lambda w: w["specification"].update(tasks=[]), f"{here}.tasks"
    yield lambda w: w["specification"].update(tasks={}), f"{here}.tasks"
    yield lambda w: w.update(specification=[]), "workflow.specification"


@pytest.mark.parametrize(("change", "message"), [*bad()])
def test_errors_name_the_place(change: Change, message: str) -> None:
    assert message in refused_document("wfformat", json.dumps(changed(DIVIDED, change)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda w: w.update(tasks=[]), "workflow.tasks: must have at least one task"),
        (lambda w: w["tasks"][1].update(name="cut_ID1", id="ID1"), "appears twice"),
        (
            lambda w: w["tasks"][1].update(parents=["ID7"]),
            "tasks[1].parents[0]: unknown task 'ID7'",
        ),
        (lambda w: w["tasks"][0]["files"][0].update(link="inout"), "tasks[0].files[0].link"),
        (lambda w: w["tasks"][0].update(runtimeInSeconds="4"), "tasks[0].runtimeInSeconds"),
    ],
)
def test_errors_of_version_1_4_name_the_place(change: Change, message: str) -> None:
    assert message in refused_document("wfformat", json.dumps(changed(UNDIVIDED, change)))


@pytest.mark.parametrize("text", ["[]", "{}", '{"workflow": []}', '{"workflow": null}', "1e999"])
def test_other_values(text: str) -> None:
    refused_document("wfformat", text)


@pytest.fixture
def run_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of version 1.4, in the current folder."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "run.json"
    file.write_text(json.dumps(UNDIVIDED))
    return file


def test_the_recorded_placement(run_file: Path, capsys: Capture) -> None:
    """4 s, then 500 bytes over 1 Gbit/s with a latency of 1 ms, then 10 s."""
    command = ("import", run_file, "--from", "wfformat", "-o", "g.json", "--cluster-out", "c.json")
    printed = json.loads(succeeds(capsys, *command, "--placement", "p.json", "--json"))
    assert printed["placement"] == "p.json"
    placement = read_placement("p.json")
    assert dict(placement.assignment) == {"cut_ID1": "left", "draw_ID2": "right"}
    assert placement.problem.cluster == read_cluster("c.json")
    found = json.loads(succeeds(capsys, "simulate", "g.json", "p.json", "--json"))
    assert found["makespan_s"] == pytest.approx(14 + 0.001 + 500 * 8 / 1e9, rel=1e-12)
    assert [row["device"] for row in found["schedule"]] == ["left", "right"]
    for words in (("explain", "p.json"), ("report", "p.json", "-o", "r.html")):
        succeeds(capsys, *words)
    succeeds(capsys, *command, "--placement", "p.csv")
    assert Path("p.csv").read_text() == "operator,device\ncut_ID1,left\ndraw_ID2,right\n"


def test_no_placement_is_written_in_part(run_file: Path, capsys: Capture) -> None:
    command = ("import", run_file, "--from", "wfformat", "-o", "g.json")

    def without(change: Change) -> None:
        run_file.write_text(json.dumps(changed(UNDIVIDED, change)))

    without(lambda w: w["tasks"][0].pop("machine"))
    assert "does not say for every task where it ran" in refused(
        capsys, *command, "--placement", "p.json"
    )
    without(lambda w: [w.pop("machines"), *(task.pop("machine") for task in w["tasks"])])
    assert "names no machine" in refused(capsys, *command, "--cluster-out", "c.json")
    without(lambda w: w["tasks"][0].pop("runtimeInSeconds"))
    notes = refused(capsys, *command, "--placement", "p.json")
    assert "the recorded placement has no makespan" in notes
    assert "write a .csv file" in notes
    assert [path.name for path in run_file.parent.iterdir()] == ["run.json"]
    succeeds(capsys, *command, "--placement", "p.csv")


def counts(value: dict[str, Any]) -> tuple[int, int, int]:
    """Count tasks, files and machines in the JSON of version 1.5."""
    workflow = value["workflow"]
    files = {file["id"] for file in workflow["specification"]["files"]}
    names = {machine["nodeName"] for machine in workflow["execution"]["machines"]}
    return len(workflow["specification"]["tasks"]), len(files), len(names)


@pytest.mark.skipif(not RUNS.exists(), reason="needs ../shared/data/wfinstances")
def test_recorded_runs() -> None:
    """Totals, run times, placements and bytes of all recorded runs, counted independently."""
    files = sorted(RUNS.glob("*.json.gz"))
    assert len(files) == 59
    for file in files:
        value = json.loads(gzip.decompress(file.read_bytes()))
        job = read_file(str(file), "wfformat")
        assert job.cluster is not None
        specified, executed = value["workflow"]["specification"], value["workflow"]["execution"]
        tasks, of_files, machines = counts(value)
        notes = re.match(r"([\d,]+) tasks?, ([\d,]+) files? of", job.notes[0])
        assert notes is not None
        assert [int(number.replace(",", "")) for number in notes.groups()] == [tasks, of_files]
        assert (len(job.graph.names), len(job.cluster.devices)) == (tasks, machines)
        assert job.notes[0].endswith(f"makespan {executed['makespanInSeconds']:.10g} s")
        kinds = {device.name: device.kind for device in job.cluster.devices}
        for run in executed["tasks"]:
            (where,) = run.get("machines") or kinds
            times = job.graph.seconds_on[job.graph.index[run["id"]]]
            assert dict(times) == {kinds[where]: run["runtimeInSeconds"]}
            assert (job.assignment or {})[run["id"]] == where
        size = {each["id"]: each["sizeInBytes"] for each in specified["files"]}
        named = {task["id"]: task for task in specified["tasks"]}
        assert sum(len(task["parents"]) for task in named.values()) == len(job.graph.streams)
        for stream, payload in zip(
            job.graph.streams, job.graph.stream_payload_bytes.tolist(), strict=True
        ):
            assert stream.source in named[stream.target]["parents"]
            shared = {*named[stream.source]["outputFiles"]} & {*named[stream.target]["inputFiles"]}
            assert payload == pytest.approx(sum(size[each] for each in shared), rel=1e-12)


@pytest.mark.skipif(not RUNS.exists(), reason="needs ../shared/data/wfinstances")
@pytest.mark.parametrize("name", ["helloworld__helloworld-chain-5-chameleon"])
def test_a_recorded_run_opens_everywhere(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """A chain takes the sum of its run times."""
    monkeypatch.chdir(tmp_path)
    file = RUNS / f"{name}.json.gz"
    succeeds(capsys, "import", file, "--from", "wfformat", "-o", "g.json", "--placement", "p.json")
    value = json.loads(gzip.decompress(file.read_bytes()))
    total = sum(run["runtimeInSeconds"] for run in value["workflow"]["execution"]["tasks"])
    assert makespan_score(read_placement("p.json")).makespan_s == pytest.approx(total)
