"""Abstract workflows of Pegasus."""

from pathlib import Path

import pytest

from streamplace.networks.wfformat.runs import NETWORK
from tests.corpus.engine_documents.workflows import DAX, DAX_3
from tests.corpus.malformed_texts import XML_BOMB
from tests.support.cli import Capture, refused, succeeds
from tests.support.documents import edges, read_document, refused_document


def test_jobs_run_times_and_files() -> None:
    job = read_document("dax", DAX)
    assert job.graph.name == "maps"
    assert edges(job) == [("cut_ID0", "draw_ID1"), ("cut_ID0", "draw_ID2")]
    assert job.graph.stream_payload_bytes.tolist() == [5e8, 5e8]
    assert job.graph.multicast == "device"
    times = [each.seconds_on for each in job.graph.operators]
    assert times == [{"machine": 4.5}, {"machine": 10.0}, {"machine": 9.25}]
    assert [each.type for each in job.graph.operators] == ["cut", "draw", "draw"]


def test_run_times_and_sizes_of_version_3() -> None:
    job = read_document("dax", DAX_3)
    assert edges(job) == [("preprocess_ID01", "ID02")]
    assert job.graph.stream_payload_bytes.tolist() == [2048]
    assert job.graph.operators[0].seconds_on == {"machine": 60.0}
    assert job.graph.lacking == ["instructions of 'ID02'"]
    assert any(note.startswith("2 tasks, 2 files of 3072 bytes") for note in job.notes)


def test_the_machines_have_the_kind_of_the_run_times() -> None:
    cluster = read_document("dax", DAX).cluster
    assert cluster is not None
    assert {device.kind for device in cluster.devices} == {"machine"}
    assert cluster.network == NETWORK


def test_a_job_follows_the_one_that_writes_its_file() -> None:
    text = DAX.replace('<child ref="ID2"><parent ref="ID0"/></child>', "")
    assert edges(read_document("dax", text)) == edges(read_document("dax", DAX))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<adag", f"{XML_BOMB}<adag", "has a DTD or entities"),
        ("<adag", "<dag", "not XML: mismatched tag"),
        ('<job id="ID2"', "<job", "<job>: missing attribute 'id'"),
        ('<job id="ID2"', '<job id="ID1"', "<job>[2].id: 'ID1' appears twice"),
        ('<child ref="ID2"', '<child ref="ID3"', "<child>: unknown job 'ID3'"),
        ('<parent ref="ID0"', '<parent ref="cut"', "<child> 'ID1': unknown job 'cut'"),
        ('<parent ref="ID0"', "<parent", "<child> 'ID1': <parent>: missing attribute 'ref'"),
        ('file="tiles.bin"', "", "job 'ID0': <uses>: missing attribute 'name'"),
        ('runtime="10"', 'runtime="10 s"', "job 'ID1': runtime: must be a finite number of at l"),
        ('size="500000000"', 'size="-1"', "job 'ID0': size: must be a finite number of at least"),
        ('size="500000000"', 'size="1e999"', "job 'ID0': size: must be a finite number of at le"),
    ],
)
def test_invalid_dax(old: str, new: str, message: str) -> None:
    assert old in DAX
    assert refused_document("dax", DAX.replace(old, new, 1)).startswith(message)


def test_workflows_without_jobs_and_other_roots() -> None:
    assert refused_document("dax", "<adag/>") == "must have at least one <job>"
    assert refused_document("dax", "<net/>") == "must be an <adag> (got <net>)"


def test_a_workflow_is_imported_and_placed(tmp_path: Path, capsys: Capture) -> None:
    file, graph, machines = tmp_path / "maps.xml", tmp_path / "g.json", tmp_path / "c.json"
    file.write_text(DAX)
    command = ("import", file, "--from", "dax", "-o", graph)
    succeeds(capsys, *command, "--cluster-out", machines, "--device-count", 2)
    text = succeeds(capsys, "place", graph, "--cluster", machines, "--objective", "makespan")
    assert text.startswith("makespan 17.751 s")  # 4.5 + 4.001 + 9.25


def test_a_bad_file_is_refused_in_one_line(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "maps.xml"
    file.write_text(DAX.replace('ref="ID2"', 'ref="ID3"'))
    line = refused(capsys, "import", file, "--from", "dax")
    assert line.startswith(f"streamplace: {file}: <child>: unknown job 'ID3'")
