"""The command `simulate --model engine`: options, traces, pictures, refusals."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import SCORE_KEYS, Capture, check_score_keys, json_of, refused, succeeds
from tests.support.input_files import GRAPH, InputFiles

ENGINE = ("--model", "engine")
RUN_KEYS = {
    "latency_s",
    "path_mean_throughput",
    "queued",
    "in_flight",
    "dropped",
    "queue_growth",
    "source_queue_growth",
    "settled",
    "throughput_settled",
    "steady",
    "starts_full",
    "duration_s",
    "tick_limited",
    "tick_s",
    "offered_rate",
    "latency_digits",
}
SLOW = ("--devices", "5x1")  # 1 MIPS per device, and the middle operator needs 2 MIPS


def simulate_by_engine(capsys: Capture, inputs: InputFiles, *options: object) -> dict[str, Any]:
    """Return the score of the placement of the input files in a run of the engine."""
    found: dict[str, Any] = json_of(
        capsys, "simulate", inputs.graph, inputs.placement, *ENGINE, *options
    )
    return found


def test_growing_queues_at_sources_are_printed(inputs: InputFiles, capsys: Capture) -> None:
    """Throughput settles, but the wait at the sources grows with the length of the run."""
    assert simulate_by_engine(capsys, inputs)["source_queue_growth"] == pytest.approx(0.0)
    found = simulate_by_engine(capsys, inputs, *SLOW)
    assert found["settled"]
    assert found["source_queue_growth"] == pytest.approx(1000 * 2 / 3, rel=0.05)
    printed = succeeds(capsys, "simulate", inputs.graph, inputs.placement, *ENGINE, *SLOW)
    assert "the queues at the sources grow by 66" in printed


def test_keys_of_the_json_output(inputs: InputFiles, capsys: Capture) -> None:
    found = simulate_by_engine(capsys, inputs)
    assert set(found) == SCORE_KEYS | RUN_KEYS
    check_score_keys(found, devices=5)
    assert found["model"] == "engine"
    assert found["relative_throughput"] == pytest.approx(1.0)
    assert found["path_mean_throughput"] == pytest.approx(1000.0)
    assert found["settled"] is True
    assert set(found["latency_s"]) == {"mean", "p50", "p99"}
    assert found["latency_s"]["mean"] == pytest.approx(0.002004, rel=1e-3)  # two hops of 1 ms


def test_every_option_has_an_effect(inputs: InputFiles, capsys: Capture) -> None:
    plain = simulate_by_engine(capsys, inputs, *SLOW)
    assert plain["throughput"] == pytest.approx(1000 / 3, rel=1e-3)
    options = [
        ("--duration", "3"),
        ("--tick", "0.05"),
        ("--queue", "300"),
        ("--no-backpressure",),
    ]
    for option in options:
        assert simulate_by_engine(capsys, inputs, *SLOW, *option) != plain, option
    together = ("simulate", inputs.graph, inputs.cepsim, *ENGINE, *SLOW)
    weighted = json_of(capsys, *together)
    uniform = json_of(capsys, *together, "--allocation", "uniform")
    shared = json_of(capsys, *together, "--allocation", "uniform", "--scheduler", "dynamic")
    throughputs = [found["throughput"] for found in (uniform, shared, weighted)]
    assert throughputs == pytest.approx([250.0, 333.3, 333.3], rel=5e-3)


def test_a_run_that_has_not_settled(inputs: InputFiles, capsys: Capture) -> None:
    command = ["simulate", inputs.graph, inputs.placement, *ENGINE, *SLOW]
    assert "had not settled" in succeeds(capsys, *command, "--duration", "1")
    assert "had not settled" not in succeeds(capsys, *command)


def test_a_scene_changes_rates_and_windows(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    scene = tmp_path / "scene.json"
    value = {
        "format": "streamplace-scene",
        "version": 1,
        "sources": {"a": {"at_s": [0], "factor": [0.5], "comment": "half of the rate"}},
        "windows": {"b": {"size_s": 2, "advance_s": 1, "ratio": 0.25}},
        "speeds": [{"device": "d0", "from_s": 1e6, "factor": 0}],
    }
    scene.write_text(json.dumps(value))
    trace = tmp_path / "trace.json"
    found = simulate_by_engine(capsys, inputs, "--scene", scene, "--trace", trace)
    assert found["relative_throughput"] == pytest.approx(1.0)
    assert found["throughput"] == pytest.approx(500.0)
    sink = json.loads(trace.read_text())["sinks"][0]
    assert sink["measured"]["rate"] == pytest.approx(1000 * 0.5 * 2 * 0.25)
    assert sink["measured"]["latency_s"] == found["latency_s"]
    assert sink["measured"]["path_mean_throughput"] == found["path_mean_throughput"]
    assert sink["rate"][0] == 0.0
    assert sink["mean_latency_s"][0] is None
    assert sink["mean_latency_s"][-1] > 0.1


def test_a_device_that_stops_is_the_bottleneck(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    scene = tmp_path / "scene.json"
    speeds = [{"device": "d1", "from_s": 0, "factor": 0}]
    scene.write_text(json.dumps({"format": "streamplace-scene", "version": 1, "speeds": speeds}))
    found = simulate_by_engine(capsys, inputs, "--scene", scene)
    assert found["throughput"] == 0.0
    assert found["bottleneck"]["name"] == "d1"
    assert found["bottleneck"]["utilisation"] == pytest.approx(1.0)
    command = ["simulate", inputs.graph, inputs.placement, *ENGINE, "--scene", scene]
    output = succeeds(capsys, *command)
    assert "no tuple arrived" in output
    assert "longer" not in output


def test_a_scene_that_offers_nothing_is_refused(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    scene, trace = tmp_path / "scene.json", tmp_path / "trace.json"
    sources = {"a": {"at_s": [0, 10], "factor": [1, 0]}}
    scene.write_text(json.dumps({"format": "streamplace-scene", "version": 1, "sources": sources}))
    command = [
        "simulate",
        inputs.graph,
        inputs.placement,
        *ENGINE,
        "--scene",
        scene,
        "--trace",
        trace,
    ]
    message = refused(capsys, *command)
    assert message.startswith(f"streamplace: {scene}: sources: nothing that could reach a sink")
    assert not trace.exists()


def test_a_trace_and_a_picture(inputs: InputFiles, tmp_path: Path, capsys: Capture) -> None:
    trace, picture = tmp_path / "trace.json", tmp_path / "run.PNG"
    simulate_by_engine(capsys, inputs, *SLOW, "--trace", trace, "--plot", picture)
    found = json.loads(trace.read_text())
    assert found["at_s"] == pytest.approx(list(range(1, 62)))
    assert [row["name"] for row in found["operators"]] == ["a", "b", "c"]
    for part in ("sources", "operators", "streams", "devices", "links", "sinks"):
        for row in found[part]:
            assert all(len(column) == 61 for column in row.values() if isinstance(column, list))
    assert found["sources"][0]["offered_rate"] == pytest.approx([1000.0] * 61)
    assert found["streams"][1]["waiting"][-1] > 1000
    assert found["devices"][2]["utilisation"][-1] == pytest.approx(1.0)
    assert found["sinks"][0]["measured"]["rate"] == pytest.approx(1000 / 3, rel=1e-3)
    assert set(found["streams"][0]) == {"source", "target", "rate", "waiting", "in_flight"}
    assert set(found["links"][0]) == {"from", "to", "utilisation", "full", "stalled"}
    assert found["links"][1]["stalled"][-1] > 0.3
    assert found["links"][1]["full"][-1] == 0.0
    assert found["operators"][2]["utilisation"][-1] == pytest.approx(1.0)
    assert found["dropped"] == 0.0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert sorted(tmp_path.iterdir()) == sorted([trace, picture])


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        (("--tick", "0"), "--tick: must be above 0"),
        (("--tick", "100"), "at most the duration, 61 s"),
        (("--tick", "inf"), "--tick: must be finite"),
        (("--duration", "0"), "--duration: must be above 0 (got 0)"),
        (("--duration", "1e12"), "--duration: must be at most 100,000,000 ticks"),
        (("--queue", "-1"), "--queue: must be finite and at least 0"),
        (("--queue", "nan"), "--queue: must be finite and at least 0"),
        (("--scheduler", "fifo"), "'fifo'"),
        (("--plot", "run.xyz"), "unknown picture format 'xyz'; choose from png, svg, pdf"),
        (("--plot", "nowhere/run.png"), "nowhere/run.png: cannot write: no such folder"),
        (("--trace", "nowhere/trace.json"), "nowhere/trace.json: cannot write: no such folder"),
        (("--trace", "."), "is a folder"),
        (("--plot", "run.png", "--trace", "run.png"), "name the same file"),
        (("--trace", "-", "--json"), "--json requires --trace FILE"),
        (("--queue", "1e-310"), "--queue: must be 0 or at least 1"),
        (("--source-queue", "-1"), "--source-queue: must be finite and at least 0"),
        (("--scene", "nowhere.json"), "nowhere.json"),
    ],
)
def test_bad_options(
    option: tuple[str, ...], expected: str, inputs: InputFiles, capsys: Capture
) -> None:
    assert expected in refused(capsys, "simulate", inputs.graph, inputs.placement, *ENGINE, *option)


def test_tuples_waiting_at_a_source_may_be_dropped(inputs: InputFiles, capsys: Capture) -> None:
    found = simulate_by_engine(capsys, inputs, *SLOW, "--source-queue", "100")
    assert found["queued"] == pytest.approx(2 * 2048, rel=0.03)
    assert found["dropped"] == pytest.approx(61 * 1000 * 2 / 3 - found["queued"], rel=0.03)


def test_a_run_of_less_than_a_second(inputs: InputFiles, tmp_path: Path, capsys: Capture) -> None:
    trace, picture = tmp_path / "trace.json", tmp_path / "run.svg"
    files = ("--trace", trace, "--plot", picture)
    simulate_by_engine(capsys, inputs, "--duration", "0.55", "--tick", "0.1", *files)
    assert json.loads(trace.read_text())["at_s"] == pytest.approx([0.6])
    assert "<svg" in picture.read_text()


def test_names_are_not_formulas(tmp_path: Path, capsys: Capture) -> None:
    graph = {**GRAPH, "operators": [dict(row) for row in GRAPH["operators"]]}
    names = {"a": "_a", "b": r"$\frac{$", "c": "c^2_$"}
    for row in graph["operators"]:
        row["name"] = names[row["name"]]
    graph["streams"] = [{k: names[v] for k, v in row.items()} for row in GRAPH["streams"]]
    (tmp_path / "graph.json").write_text(json.dumps(graph))
    succeeds(capsys, "place", tmp_path / "graph.json", "-o", tmp_path / "placement.json")
    command = ["simulate", tmp_path / "graph.json", tmp_path / "placement.json", *ENGINE]
    succeeds(capsys, *command, "--plot", tmp_path / "run.svg")
    assert (tmp_path / "run.svg").exists()


@pytest.mark.parametrize(
    ("windows", "expected"),
    [
        ({"b": {"size_s": 1, "advance_s": 1, "ratio": 0}}, "no tuple ever reaches a sink"),
        ({"b": {"size_s": 1, "advance_s": 1, "count": 0}}, "no tuple ever reaches a sink"),
        ({"b": {"size_s": 1e300, "advance_s": 1e-10}}, "windows.b"),
        ({"b": {"size_s": 1e300, "advance_s": 1e300}}, "windows.b"),
        ({"c": {"size_s": 1, "advance_s": 1}}, "windows.c: 'c' is a sink"),
    ],
)
def test_bad_windows(
    windows: Any, expected: str, inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    scene = tmp_path / "scene.json"
    scene.write_text(json.dumps({"format": "streamplace-scene", "version": 1, "windows": windows}))
    command = ["simulate", inputs.graph, inputs.placement, *ENGINE, "--scene", scene]
    assert expected in refused(capsys, *command)


def test_a_device_slowed_after_the_end_of_the_run(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    speeds = [{"device": "d0", "from_s": 1e11, "factor": 0}]
    scene = tmp_path / "scene.json"
    scene.write_text(json.dumps({"format": "streamplace-scene", "version": 1, "speeds": speeds}))
    assert simulate_by_engine(capsys, inputs, "--scene", scene) == simulate_by_engine(
        capsys, inputs
    )


def test_engine_options_require_the_engine(inputs: InputFiles, capsys: Capture) -> None:
    line = refused(capsys, "simulate", inputs.graph, inputs.placement, "--tick", "1")
    assert "--tick requires --model engine" in line


def test_place_and_compare_support_the_engine(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    options = ("--devices", "2x1", *ENGINE)
    placed = json_of(capsys, "place", inputs.graph, *options, "--placer", "greedy")
    assert placed["model"] == "engine"
    assert placed["bound"] is None
    assert placed["gap"] is None
    compared = json_of(capsys, "compare", inputs.graph, "--placers", "single,greedy", *options)
    assert compared["rows"][1]["mean"] == pytest.approx(placed["relative_throughput"])


def test_a_plot_without_matplotlib_is_refused_before_the_run(
    inputs: InputFiles, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamplace.util.extras.find_spec", lambda _name: None)
    plot = tmp_path / "run.png"
    command = ["simulate", inputs.graph, inputs.placement, *ENGINE, "--plot", plot]
    assert "pictures need matplotlib" in refused(capsys, *command)
    assert not plot.exists()
