"""Files of networks: what they contain, and how they are made."""

import json
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.networks import making, models
from benchmarks.networks.making import FOLDER, make, text_of
from benchmarks.networks.models import NETWORKS, Network
from streamplace.files.datasets import read_graph, resolve
from streamplace.files.graphs import graph_from
from streamplace.networks.torch.graph import from_module
from streamplace.papers.hsdag.study import registered
from tests.support.torch_modules import case


def test_the_study_has_every_network() -> None:
    assert tuple(NETWORKS) == registered.NETWORKS
    assert sorted(path.stem for path in FOLDER.glob("*.json")) == sorted(NETWORKS)
    assert resolve("dataset:networks") == FOLDER


@pytest.mark.parametrize("name", NETWORKS)
def test_a_file_is_as_it_would_be_written(name: str) -> None:
    text = (FOLDER / f"{name}.json").read_text()
    graph = read_graph(FOLDER / f"{name}.json")
    assert text_of(graph, name, json.loads(text)["comment"]) == text


def test_times_are_rounded_and_nothing_else() -> None:
    module, inputs = case("images")
    graph = from_module(module, inputs)
    count = len(graph.names)
    exact = graph.with_numbers(seconds_on={v: {"cpu": 1.23456e-4 * (v + 1)} for v in range(count)})
    read = graph_from(json.loads(text_of(exact[0], "images", "made")), "file")
    assert [read.seconds_on[v]["cpu"] for v in range(2)] == [1.235e-4, 2.469e-4]
    assert read.with_numbers(seconds_on={})[0].sha256 == graph.sha256
    assert read.name == "images"


def test_a_network_is_measured_in_cpu_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module, inputs = case("net")
    monkeypatch.setattr(making, "network", lambda name: Network(module, inputs, "torch.a.function"))
    measured = make("net", 3, 60.0, tmp_path)
    graph = read_graph(tmp_path / "net.json")
    assert graph.multicast == "device"
    for v, seconds in enumerate(graph.seconds_on.values()):
        assert seconds["cpu"] == pytest.approx(measured.graph.seconds_on[v]["cpu"], rel=1e-3)
    about = json.loads((tmp_path / "net.json").read_text())["comment"]
    shape = "x".join(map(str, inputs[0].shape))
    for part in (
        "torch.a.function (torch ",
        f"of shape {shape}.",
        "median of 3 passes",
        "CPU time",
    ):
        assert part in about


@pytest.mark.long
@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_still_has_the_structure_of_its_file(name: str) -> None:
    """Another version of its package may differ, so only that of the file is compared."""
    about = json.loads((FOLDER / f"{name}.json").read_text())["comment"]
    package = models.SOURCES[name]
    if not find_spec(package) or f"({package} {version(package)})" not in about:
        pytest.skip(f"the version of {package} that made the file is not installed")
    found = models.network(name)
    graph = from_module(found.module, found.inputs).with_numbers(multicast="device")[0]
    shipped = read_graph(FOLDER / f"{name}.json").with_numbers(seconds_on={})[0]
    assert shipped.sha256 == graph.sha256
