"""Datasets as an `InMemoryDataset`, and its cache."""

import os
import pickle
from pathlib import Path

import pytest
import torch
from torch_geometric.data import InMemoryDataset
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GraphConv, global_mean_pool

import streamplace as sp
from streamplace.errors import FormatError, InfeasibleError
from streamplace.learning.policy.weights import pack_tensors
from streamplace.learning.pyg import StreamGraphs, to_pyg
from streamplace.learning.pyg.dataset import _with_weights

RECIPE = sp.Recipe("layered", 20, sizes=range(6, 12))
GRAPHS = [RECIPE.graph(number) for number in range(20)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a dataset of twenty graphs."""
    path = tmp_path / "graphs.jsonl.gz"
    sp.write_dataset(path, GRAPHS)
    return path


def cached_files(root: Path) -> list[Path]:
    return sorted((root / "processed").iterdir())


def test_a_dataset_holds_the_graphs_in_order(file: Path, tmp_path: Path) -> None:
    for _ in range(2):  # computed, then read from the cache
        dataset = StreamGraphs(tmp_path / "root", file)
        assert isinstance(dataset, InMemoryDataset)
        assert len(dataset) == 20
        for found, graph in zip(dataset, GRAPHS, strict=True):
            made = to_pyg(graph)
            assert found.name == graph.name
            for key in ("x", "edge_index", "edge_attr", "source_rate"):
                assert torch.equal(found[key], made[key])
    assert [path.suffix for path in cached_files(tmp_path / "root")] == [".safetensors"]


def test_a_network_can_be_trained_on_a_dataset(file: Path, tmp_path: Path) -> None:
    dataset = StreamGraphs(tmp_path / "root", file, placer="greedy", cluster="3x2500")
    torch.manual_seed(0)
    layer, head = GraphConv(5, 16), torch.nn.Linear(16, 3)
    optimizer = torch.optim.Adam([*layer.parameters(), *head.parameters()], lr=0.02)
    losses = []
    for _ in range(15):
        for batch in DataLoader(dataset, batch_size=8):
            hidden = torch.relu(layer(torch.log1p(batch.x), batch.edge_index))
            loss = torch.nn.functional.cross_entropy(head(hidden), batch.y)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            losses.append(loss.item())
    assert sum(losses[-3:]) < sum(losses[:3])
    pooled = global_mean_pool(hidden, batch.batch)
    assert pooled.shape == (4, 16)
    assert batch.source_rate.shape == (4,)
    assert dataset.num_classes == 3
    greedy = sp.place(GRAPHS[2], "3x2500", placer="greedy").placement
    assert dataset[2].y.tolist() == greedy.devices.tolist()


def test_labels_of_operators_with_several_instances(tmp_path: Path) -> None:
    operators = [sp.Operator("a", 1e5, 10, parallelism=2), sp.Operator("b", 2e5, 20, parallelism=3)]
    graph = sp.StreamGraph(operators, [("a", "b")], name="parallel", source_rate=5)
    file = tmp_path / "graphs.jsonl"
    sp.write_dataset(file, [graph, GRAPHS[0]])
    placed = sp.place(graph, "3x2500", placer="greedy").placement
    for _ in range(2):  # computed, then read from the cache
        dataset = StreamGraphs(tmp_path / "root", file, placer="greedy", cluster="3x2500")
        assert dataset[0].y.tolist() == placed.devices.tolist()
        assert [each.num_nodes for each in dataset] == [5, len(GRAPHS[0].names)]
    assert StreamGraphs(tmp_path / "root", file)[0].num_nodes == 2


def test_the_cache_is_used_until_something_changes(file: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    StreamGraphs(root, file)
    (first,) = cached_files(root)
    before = first.stat().st_mtime_ns
    again = StreamGraphs(root, file)
    assert cached_files(root) == [first]
    assert first.stat().st_mtime_ns == before
    other = StreamGraphs(root, file, placer="greedy")
    assert len(cached_files(root)) == 2
    assert again[0].y is None
    assert other[0].y is not None
    StreamGraphs(root, file, placer="greedy", cluster="2x100")
    assert len(cached_files(root)) == 3
    sp.write_dataset(file, GRAPHS[5:])
    assert StreamGraphs(root, file)[0].name == GRAPHS[5].name
    assert len(cached_files(root)) == 4


def test_the_same_bytes_are_made_every_time(file: Path, tmp_path: Path) -> None:
    made = []
    for name in "ab":
        StreamGraphs(tmp_path / name, file, placer="search:evaluations=500", seed=3)
        made.append([(path.name, path.read_bytes()) for path in cached_files(tmp_path / name)])
    assert made[0] == made[1]


class Last:
    """A user's placer with state that its name does not show."""

    device = 1

    def __call__(self, problem: sp.Problem, rng: object, start: object = None) -> sp.Placement:
        return sp.Placement(problem, [self.device] * len(problem.graph.names))


def test_labels_of_placers_that_may_change_are_not_cached(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "root"
    for placer in (Last(), f"{__name__}:Last"):
        for device in (2, 0):
            monkeypatch.setattr(Last, "device", device)
            labels = StreamGraphs(root, file, placer=placer, cluster="3x2500")[0].y
            assert set(labels.tolist()) == {device}
    assert not (root / "processed").exists()


def test_labels_of_a_policy_depend_on_its_weights(file: Path, tmp_path: Path) -> None:
    def keys(weights: bytes) -> object:
        path = tmp_path / "weights"
        path.write_bytes(weights)
        return _with_weights(f"policy:samples=2:file={path}")

    assert keys(b"one") != keys(b"two")
    assert keys(b"one") == keys(b"one")
    with pytest.raises(FormatError, match="nowhere: no such file"):
        StreamGraphs(tmp_path / "root", file, placer="policy:file=nowhere")


OTHER = pack_tensors({"x": torch.zeros(3)}, {})  # with its own hash


class Trap:
    """A pickle that calls a function when it is loaded."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("sprung",)


@pytest.mark.parametrize("content", [b"", b"\x00" * 64, pickle.dumps(Trap()), OTHER, None])
def test_a_manipulated_cache_is_rebuilt_and_never_executed(
    content: bytes | None, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    root = tmp_path / "root"
    StreamGraphs(root, file)
    (path,) = cached_files(root)
    good = path.read_bytes()
    bad = good[:-4] + b"\x00\x01\x02\x03" if content is None else content
    path.write_bytes(bad)
    for name in ("pre_transform.pt", "pre_filter.pt"):  # PyTorch Geometric would unpickle these
        (root / "processed" / name).write_bytes(pickle.dumps(Trap()))
    assert len(StreamGraphs(root, file)) == 20
    assert path.read_bytes() == good
    assert not Path("sprung").exists()


def test_folders_and_shipped_datasets(file: Path, tmp_path: Path) -> None:
    assert len(StreamGraphs(tmp_path / "root", file.parent)) == 20
    real = StreamGraphs(tmp_path / "real", "dataset:real")
    assert len(real) == len(sp.read_dataset("dataset:real"))
    doubled = StreamGraphs(tmp_path / "real", "dataset:real", transform=_doubled)
    assert torch.equal(doubled[0].x, 2 * real[0].x)


def _doubled(data):  # type: ignore[no-untyped-def]  # torch-geometric is not typed
    data.x = 2 * data.x
    return data


def test_errors_leave_no_cache(file: Path, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="nowhere"):
        StreamGraphs(tmp_path / "root", tmp_path / "nowhere.json")
    apart = sp.StreamGraph(
        [("a", 1, 0), ("b", 1, 0)], name="apart", source_rate=1,
        constraints=sp.Constraints(exlocate=[["a", "b"]]),
    )  # fmt: skip
    sp.write_dataset(file, [*GRAPHS, apart])
    with pytest.raises(InfeasibleError, match="apart: constraints: too few devices"):
        StreamGraphs(tmp_path / "root", file, placer="greedy", cluster="1x100")
    assert not (tmp_path / "root" / "processed").exists()
