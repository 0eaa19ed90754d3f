"""The command `plan`, and `place --start`."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from streamplace.cli.main import main
from tests.support.cli import Capture, json_of, place_by_cli, refused, succeeds
from tests.support.input_files import InputFiles


def test_a_plan_is_a_table_a_curve_and_json(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    """The graph needs 6 MIPS at 1,000 tuples/s, 3 of them for one operator."""
    curve = tmp_path / "plan.svg"
    options = ("plan", inputs.graph, "--devices", "3x4", "--time-limit", "0.02")
    lines = succeeds(capsys, *options, "--plot", curve).splitlines()
    assert [line.split() for line in lines[1:4]] == [
        ["1", "666.666", "666.666", "66.7%"],
        ["2", "1,333.33", "1,333.33", "100.0%"],
        ["3", "1,333.33", "1,333.33", "100.0%"],
    ]
    assert lines[4] == "2 devices keep up with 1,000 tuples/s"
    assert curve.read_text().startswith("<?xml")
    found = json_of(capsys, *options)
    assert found["fewest_devices"] == 2
    row: dict[str, Any] = found["rows"][0]
    assert {"devices", "max_source_rate", "relative_throughput"} <= set(row)
    found = json_of(capsys, *options, "--most", "1", "--target-utilisation", "0.5")
    assert found["fewest_devices"] is None
    assert found["rows"][0]["max_source_rate"] == pytest.approx(1000 / 3)
    assert "1 device is not enough for 1,000 tuples/s" in succeeds(capsys, *options, "--most", "1")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--survive", "2"], "--survive: must be 0 or 1 (got 2)"),
        (["--survive", "-1"], "--survive"),
        (
            ["--model", "engine"],
            "plan: does not support the model engine; choose from bottleneck, path-average",
        ),
        (
            ["--plot", "plan.txt"],
            "'plan.txt': unknown picture format 'txt'; choose from png, svg, pdf",
        ),
        (["--plot", "/nowhere/plan.png"], "/nowhere"),
        (["--most", "0"], "--most"),
        (["--time-limit", "-1"], "--time-limit"),
        (["--time-limit", "nan"], "--time-limit"),
    ],
)
def test_plans_that_are_refused(
    inputs: InputFiles, capsys: Capture, options: list[str], expected: str
) -> None:
    assert expected in refused(capsys, "plan", inputs.graph, *options)


def test_the_cheapest_devices_and_how_to_place_on_them(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    """The graph needs 6 MIPS at 1,000 tuples/s, 3 of them for one operator."""
    speeds_and_prices = {"big one": (7, 9), "a": (4, 2), "b": (4, 3), "c": (4, 4), "old": (1, 0)}
    devices = [
        {"name": name, "mips": mips, "price": price}
        for name, (mips, price) in speeds_and_prices.items()
    ]
    cluster = tmp_path / "my racks.json"
    cluster.write_text(json.dumps({"devices": devices}))
    options = ("plan", inputs.graph, "--cluster", cluster)
    lines = succeeds(capsys, *options).splitlines()
    assert lines[-2] == (
        "2 devices keep up with 1,000 tuples/s at a price of 5, the lowest possible (proven)"
    )
    command = shlex.split(lines[-1].removeprefix("to place on these devices: "))
    assert command[:3] == ["streamplace", "place", str(inputs.graph)]
    assert json_of(capsys, *command[1:])["relative_throughput"] == 1.0
    found = json_of(capsys, *options)
    assert found["cheapest"] == {"devices": ["a", "b"], "price": 5.0, "bound": 5.0, "gap": 0.0}
    assert found["fewest_devices"] == 1
    row: dict[str, Any] = found["rows"][0]
    assert (row["devices"], row["names"], row["price"]) == (1, ["big one"], 9.0)
    assert found["losses"] == []

    lines = succeeds(capsys, *options, "--survive", "1").splitlines()
    assert (
        "3 devices keep up with 1,000 tuples/s after the loss of any one device at a " in lines[-2]
    )
    found = json_of(capsys, *options, "--survive", "1")
    assert found["cheapest"]["devices"] == ["a", "b", "c"]
    assert [loss["device"] for loss in found["losses"]] == ["a", "b", "c"]
    assert all(loss["max_source_rate"] >= 1000 * (1 - 1e-9) for loss in found["losses"])


def test_devices_without_prices_count_one_each(inputs: InputFiles, capsys: Capture) -> None:
    assert main(["plan", str(inputs.graph), "--devices", "1x4,1x5,1x9"]) == 0
    output, messages = capsys.readouterr()
    assert "1 device keeps up with 1,000 tuples/s at a price of 1, the lowest" in output
    assert messages == "no device has a price: each counts 1, so that the cheapest are the fewest\n"


def test_moves_after_losing_a_device(inputs: InputFiles, tmp_path: Path, capsys: Capture) -> None:
    old = place_by_cli(
        capsys, inputs.graph, tmp_path / "old.json", "--devices", "3x4", "--placer", "round-robin"
    )
    options = ("place", inputs.graph, "--devices", "2x4", "--start", old, "--time-limit", "0.02")
    lines = succeeds(capsys, *options, "--max-moves", "0").splitlines()
    assert lines[-1].startswith("1 forced move, 0 further moves; throughput ")
    assert lines[-2].split()[1:3] == ["d2", "d0"]
    found = json_of(capsys, *options, "--max-moves", "1")
    forced = [move for move in found["moves"] if move["forced"]]
    assert [move["from"] for move in forced] == ["d2"]
    assert len(found["moves"]) <= 2
    assert found["throughput"] >= found["throughput_without_moves"]
    assert found["placer"] == "migrate:max_moves=1"
    cost = json_of(capsys, *options, "--move-cost", "0.5")
    assert cost["throughput"] >= cost["throughput_without_moves"]


def test_moves_without_a_limit(inputs: InputFiles, tmp_path: Path, capsys: Capture) -> None:
    old = place_by_cli(
        capsys, inputs.graph, tmp_path / "old.json", "--devices", "3x4", "--placer", "single"
    )
    options = ("place", inputs.graph, "--devices", "3x4", "--start", old)
    found = json_of(capsys, *options, "--placer", "search:evaluations=500")
    assert found["relative_throughput"] == 1.0
    assert found["moves"]
    assert not any(move["forced"] for move in found["moves"])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--max-moves", "1"], "requires --start"),
        (["--move-cost", "1"], "requires --start"),
        (
            ["--start", "OLD", "--max-moves", "1", "--move-cost", "1"],
            "cannot combine --max-moves with --move-cost",
        ),
        (["--start", "OLD", "--max-moves", "-1"], "--max-moves"),
        (["--start", "OLD", "--move-cost", "inf"], "--move-cost"),
        (
            ["--start", "OLD", "--placer", "metis"],
            "placer 'metis' does not accept an initial placement",
        ),
        (
            ["--start", "OLD", "--placer", "search", "--max-moves", "1"],
            "cannot combine --placer with",
        ),
        (["--start", "OTHER"], "other.json: contains none of the operators of "),
        (["--placer", "metis", "--time-limit", "1"], "these do: auto, search, exact"),
        (["--placer", "search:seconds=1", "--time-limit", "1"], "already sets a time limit"),
    ],
)
def test_bad_initial_placements_and_limits(
    inputs: InputFiles, tmp_path: Path, capsys: Capture, options: list[str], expected: str
) -> None:
    old = place_by_cli(capsys, inputs.graph, tmp_path / "old.json", "--placer", "greedy")
    graph = tmp_path / "graph.json"
    graph.write_text(
        json.dumps({"source_rate": 1, "operators": [{"name": "x", "instructions": 1}]})
    )
    other = tmp_path / "other.json"
    succeeds(capsys, "place", graph, "--placer", "single", "-o", other)
    files = {"OLD": str(old), "OTHER": str(other)}
    assert expected in refused(
        capsys, "place", inputs.graph, *(files.get(word, word) for word in options)
    )


def test_a_device_whose_name_has_a_comma_can_be_left_out(tmp_path: Path, capsys: Capture) -> None:
    """The command that `plan` prints works, and so do other names in double quotes."""
    graph, cluster = tmp_path / "graph.json", tmp_path / "cluster.json"
    graph.write_text('{"source_rate": 1000, "operators": [{"name": "a", "instructions": 9e5}]}')
    names = ("rack1,2", 'of "two"', "n1")
    devices = [{"name": name, "mips": 2000, "price": 3} for name in names]
    devices[-1] = {"name": "n1", "mips": 1000, "price": 1}
    cluster.write_text(json.dumps({"devices": devices}))
    lines = succeeds(capsys, "plan", graph, "--cluster", cluster).splitlines()
    command = shlex.split(lines[-1].removeprefix("to place on these devices: "))
    assert {*json_of(capsys, *command[1:])["assignment"].values()} == {"n1"}
    slow = ("--slow", '"rack1,2=0.5",n1=0.5')
    placed = json_of(capsys, "place", graph, "--cluster", cluster, *slow, "--without", "n1")
    assert placed["relative_throughput"] == 1.0
    for text in ("", "n1,", ",n1"):
        found = refused(capsys, "place", graph, "--cluster", cluster, "--without", text)
        assert "--without: expected device names" in found
    assert "unknown device or group 'rack1'" in refused(
        capsys, "place", graph, "--cluster", cluster, "--without", "rack1,2"
    )


def test_a_plan_for_rates_of_single_sources(tmp_path: Path, capsys: Capture) -> None:
    """The printed command states them as well, also where a name has a comma."""
    graph, cluster = tmp_path / "graph.json", tmp_path / "cluster.json"
    names = ("a,b", "c=d")
    operators = [{"name": name, "instructions": 1e6} for name in names]
    graph.write_text(json.dumps({"operators": operators}))
    devices = [{"name": f"n{i}", "mips": 1000, "price": 1 + i} for i in range(3)]
    cluster.write_text(json.dumps({"devices": devices}))
    rates = ("--source-rate", '"a,b=700"', "--source-rate", "c=d=600")
    lines = succeeds(capsys, "plan", graph, "--cluster", cluster, *rates).splitlines()
    command = shlex.split(lines[-1].removeprefix("to place on these devices: "))
    placed = json_of(capsys, *command[1:])
    assert placed["throughput"] == 1300
    assert [each["utilisation"] for each in placed["devices"]] == [0.7, 0.6]


def test_the_placement_on_the_fewest_devices_is_confirmed(
    inputs: InputFiles, tmp_path: Path, capsys: Capture
) -> None:
    written = tmp_path / "plan.json"
    found = json_of(capsys, "plan", inputs.graph, "--devices", "1x4", "-o", written)
    count = found["fewest_devices"]
    assert count == 2
    options = ("--devices", f"{count}x4", "--start", written)
    placed = json_of(capsys, "place", inputs.graph, *options)
    assert placed["relative_throughput"] == 1.0
    assert placed["moves"] == []
    known = [row["devices"] for row in found["rows"]] + found["left_out"]
    assert known == [*range(1, len(known) + 1)]
    both = ("-o", "-", "--json")
    assert "only one of -o and --json" in refused(capsys, "plan", inputs.graph, *both)
    missing = tmp_path / "missing.json"
    short = ("plan", inputs.graph, "--devices", "1x4", "--most", "1", "-o", missing)
    assert main([*map(str, short)]) == 1
    assert "no placement to write" in capsys.readouterr().err
    assert not missing.exists()
