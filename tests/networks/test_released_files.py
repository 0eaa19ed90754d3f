"""Released computation graphs: sizes, and makespans that were computed by other programs."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from streamplace.formats.documents import read_document
from tests.support.imported_schedules import imported_problem
from tests.support.released_data import SHARED

REFERENCE = SHARED / "makespan"
SIZES = {  # operators and streams
    "dnn/throughput/layer-bert24_inference.json": (32, 55),
    "dnn/throughput/layer-gnmt_training.json": (192, 244),
    "dnn/throughput/layer-inceptionv3_inference.json": (326, 363),
    "dnn/throughput/layer-inceptionv3_training.json": (652, 726),
    "dnn/throughput/layer-resnet50_inference.json": (177, 193),
    "dnn/throughput/layer-resnet50_training.json": (354, 386),
    "dnn/throughput/operator-bert_l_12_inference.json": (783, 843),
    "dnn/throughput/operator-bert_l_12_training.json": (2012, 2751),
    "dnn/throughput/operator-bert_l_3_inference.json": (235, 250),
    "dnn/throughput/operator-bert_l_3_training.json": (600, 817),
    "dnn/throughput/operator-resnet50_inference.json": (604, 619),
    "dnn/throughput/operator-resnet50_training.json": (1243, 1806),
    "doppler/8gpu_transformer_block.txt": (302, 398),
    "doppler/ffnn_192nodes.txt": (180, 208),
    "doppler/full_transformer_layer_261nodes.txt": (229, 284),
    "doppler/full_transformer_layer_repaired.txt": (229, 284),
    "doppler/gdp_chain_mm_112nodes.txt": (76, 80),
    "doppler/gdp_ffnn_192nodes.txt": (180, 208),
    "doppler/gdp_transformer_block_215nodes.txt": (182, 234),
    "doppler/transformer_block_215nodes.txt": (182, 234),
}
ONE_DEVICE = {  # FLOPs / 1e10
    "gdp_chain_mm_112nodes.txt": 4800.28,
    "ffnn_192nodes.txt": 226.783186,
    "gdp_transformer_block_215nodes.txt": 388.68,
    "full_transformer_layer_repaired.txt": 388.98,
}
SUSPECT = {
    "full_transformer_layer_261nodes.txt": "line 4: '95,38' lacks",
    "transformer_block_215nodes.txt": "line 4: '4,7' lacks",
}


def reference(name: str, *keys: str) -> Any:
    """Return values of a file of reference data, or skip the test if it is missing."""
    path = REFERENCE / name
    if not path.exists():
        pytest.skip(f"{name} is not in ../shared")
    value = json.loads(path.read_text())
    for key in keys:
        value = value[key]
    return value


def kind_of(name: str) -> str:
    """Return the format of a file."""
    folder = name.rpartition("/")[0]
    return {"dnn/throughput": "dnn-partitioning", "dnn/latency": "dnn-latency"}.get(folder, folder)


@pytest.mark.parametrize("name", SIZES)
def test_sizes(name: str) -> None:
    if not (SHARED / name).exists():
        pytest.skip(f"{name} is not in ../shared")
    graph = read_document(str(SHARED / name), kind_of(name)).graph
    assert (len(graph.names), len(graph.streams)) == SIZES[name]


def test_wrong_edges_are_noted() -> None:
    folder = SHARED / "doppler"
    if not folder.exists():
        pytest.skip("DOPPLER's graphs are not in ../shared")
    for path in folder.iterdir():
        notes = read_document(str(path), "doppler").notes[2:]
        assert [SUSPECT[path.name] in note for note in notes] == [True] * (path.name in SUSPECT)


@pytest.mark.parametrize("name", ONE_DEVICE)
def test_doppler_on_one_device(name: str) -> None:
    path = SHARED / "doppler" / name
    if not path.exists():
        pytest.skip(f"{name} is not in ../shared")
    seconds = imported_problem("doppler", path, 1).single(0)
    assert seconds == int(seconds)  # whole FLOPs
    assert seconds / 1e10 == pytest.approx(ONE_DEVICE[name], abs=0.005)


def check(row: dict[str, Any], kind: str, folder: str, unit_s: float, single: str) -> None:
    """Compare HEFT, PEFT and a single device with a row of the reference data."""
    count = None if kind == "dnn-latency" else row["devices"]
    problem = imported_problem(kind, SHARED / folder / row["file"], count)
    tasks = problem.problem.tasks
    assert (tasks.operators, len(tasks.source)) == (row["operators"], row["streams"])
    heft, peft = problem.heft(), problem.peft()
    found = {
        single: problem.single(tasks.devices - 1),
        "heft": problem.makespan(heft.devices),
        "heft_own": heft.length,
        "peft": problem.makespan(peft.devices),
        "peft_own": peft.length,
    }
    if "best_placement" in row:
        found["best_known"] = problem.makespan(row["best_placement"])
    for key, seconds in found.items():
        assert seconds / unit_s == pytest.approx(row[key], rel=1e-9, abs=5e-7), key


def doppler_rows() -> Iterator[dict[str, Any]]:
    """Yield the reference rows of DOPPLER's graphs."""
    for result in reference("doppler.json", "results"):
        for count, row in result["devices"].items():
            yield {**row, "file": result["file"], "devices": int(count)}


def test_makespans_of_doppler() -> None:
    for row in doppler_rows():
        check(row, "doppler", "doppler", 1e10, "one_device")


@pytest.mark.long
def test_makespans_of_pipedream() -> None:
    for row in reference("others.json", "pipedream"):
        check(row, "pipedream", "pipedream", 1e-3, "best_single_device")


@pytest.mark.long
def test_makespans_of_dnn_latency() -> None:
    """Colour classes stay together, and accelerators hold no more than their memory."""
    for row in reference("others.json", "dnn_latency"):
        check(row, "dnn-latency", "dnn/latency", 1e-3, "all_on_cpu")
