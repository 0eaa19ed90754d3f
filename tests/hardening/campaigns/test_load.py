"""Memory stays bounded, killed workers change nothing, and violations are counted."""

from pathlib import Path

import pytest

from benchmarks.hardening.campaigns.load import campaign, worker_loss
from benchmarks.hardening.campaigns.load.campaign import large_graph, many_graphs
from benchmarks.hardening.campaigns.load.worker_loss import lost_workers
from benchmarks.hardening.harness.measured_commands import MIB, Usage, run_measured

SHARE = 0.02

pytestmark = pytest.mark.alone  # other tests would change the memory that processes share


def test_many_graphs_in_bounded_memory(tmp_path: Path) -> None:
    row = many_graphs(tmp_path, 200, seed=1)
    assert row.good, row.faults


def test_a_large_graph_in_bounded_memory(tmp_path: Path) -> None:
    for row in large_graph(tmp_path, 10_000, seed=1):
        assert row.good, row.faults


def test_a_killed_worker_changes_nothing() -> None:
    row = lost_workers("local", SHARE, seed=1)
    assert row.good, row.faults


def test_memory_of_all_processes_is_measured(tmp_path: Path) -> None:
    dataset = tmp_path / "dream.jsonl"
    assert run_measured("generate", "dream", "--count", 100, "--jobs", 1, "-o", dataset).code == 0
    words = ("compare", dataset, "--placers", "metis,greedy", "-o", tmp_path / "table")
    used = run_measured(*words, "--jobs", 2)
    assert used.code == 0
    assert used.together_bytes > used.largest_bytes + 30 * MIB  # shared libraries count once


def test_only_memory_of_the_command_is_measured() -> None:
    used = run_measured("info", "dataset:real/q4")
    assert used.code == 2
    assert used.err.startswith("streamplace: ")
    assert 20 * MIB < used.largest_bytes < 300 * MIB


def test_the_limit_of_data_is_enforced(tmp_path: Path) -> None:
    words = ("generate", "layered", "--operators", 100_000, "-o", tmp_path / "graph.npz")
    bounded = run_measured(*words, data_bytes=40 * MIB)
    assert bounded.code  # 1, or the exit code of a library that ends the process
    assert list(tmp_path.iterdir()) == []
    assert run_measured(*words).code == 0


@pytest.mark.parametrize(
    ("used", "kind"),
    [
        (Usage("", "Traceback", 1, 1.0, MIB, MIB), "failures"),
        (Usage("", "", 0, 1.0, 2000 * MIB, 2000 * MIB), "over the memory limit"),
        (Usage("", "", 0, 1.0, MIB, 2000 * MIB), "over the memory limit"),
    ],
)
def test_faults_are_noticed(
    used: Usage, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Usage("", "", 0, 1.0, MIB, MIB)

    def pretend(command: object, *_: object, **__: object) -> Usage:
        return made if command == "generate" else used

    monkeypatch.setattr(campaign, "run_measured", pretend)
    assert many_graphs(tmp_path, 400, 0).wrong[kind] == 2
    assert next(large_graph(tmp_path, 400, 0)).wrong[kind] == 1


def test_growth_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    peaks = iter([100, 100, 100, 150])
    monkeypatch.setattr(
        campaign, "run_measured", lambda *_, **__: Usage("", "", 0, 1, n := next(peaks) * MIB, n)
    )
    assert many_graphs(tmp_path, 400, 0).wrong["memory grows with the graphs"] == 1


@pytest.mark.parametrize("fault", ["not killed", "exit 1", "another table"])
def test_faults_after_lost_workers_are_noticed(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def pretend(command: str, *words: object, **_: object) -> Usage:
        if command == "compare":
            folder, placer = Path(str(words[words.index("-o") + 1])), str(words[2])
            if fault != "not killed":
                Path(placer.partition("flag=")[2].partition(",")[0]).touch()
            folder.mkdir()
            (folder / "graphs.csv").write_text(folder.name if fault == "another table" else "")
        code = int(fault == "exit 1" and command == "compare")
        return Usage("", "streamplace: a worker died", code, 1.0, MIB, MIB)

    monkeypatch.setattr(worker_loss, "run_measured", pretend)
    row = lost_workers("local", SHARE, 0)
    kind = "tables that differ" if fault == "another table" else "failures"
    assert row.wrong[kind] == row.tried == 1


def test_a_missing_backend_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(worker_loss.BACKENDS, "ray", "no_such_package")
    row = lost_workers("ray", SHARE, 0)
    assert row.tried == 0
    assert row.what.endswith("(no_such_package is not installed)")
    assert row.figures == {"not run": "no_such_package is not installed"}
