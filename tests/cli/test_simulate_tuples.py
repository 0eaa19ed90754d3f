"""`simulate --arrivals`: the latency of single tuples, its JSON and its refusals."""

import json
from math import log
from pathlib import Path

import pytest

from tests.support.cli import Capture, json_of, refused, succeeds
from tests.support.input_files import chain

RUN = ("--model", "engine", "--arrivals", "poisson", "--service", "exponential")


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Return files of one operator that loads its device by a half, and of its placement."""
    graph, placement = tmp_path / "graph.json", tmp_path / "placement.csv"
    graph.write_text(json.dumps(chain(["count"], 1.25e6, payload_bytes=0)))
    placement.write_text("operator,device\ncount,d0\n")
    return graph, placement


def test_json(files: tuple[Path, Path], capsys: Capture) -> None:
    """The latency is that of an M/M/1 queue."""
    found = json_of(capsys, "simulate", *files, *RUN, "--duration", 300)
    mean = 0.0005 / 0.5
    assert found["latency_s"] == pytest.approx(
        {"mean": mean, "p50": mean * log(2), "p99": mean * log(100)}, rel=0.05
    )
    assert found["throughput"] == 1000.0
    assert found["settled"]
    assert (found["arrivals"], found["service"]) == ("poisson", "exponential")
    again = json_of(capsys, "simulate", *files, *RUN, "--duration", 300, "--seed", 1)
    assert again["latency_s"] != found["latency_s"]
    assert again["latency_s"] == pytest.approx(found["latency_s"], rel=0.05)


def test_lines(files: tuple[Path, Path], capsys: Capture) -> None:
    text = succeeds(capsys, "simulate", *files, *RUN)
    assert "latency: mean 0.00" in text
    assert "single tuples with Poisson arrivals, exponential services" in text


def test_a_short_run_near_saturation(files: tuple[Path, Path], capsys: Capture) -> None:
    words = ("simulate", *files, *RUN, "--source-rate", 1940)
    found = json_of(capsys, *words)
    assert not found["settled"]
    assert found["measured_s"] < found["enough_s"] == pytest.approx(218, rel=0.02)
    text = succeeds(capsys, *words)
    assert "too short for these errors; measure 220 s or more (--duration)" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (RUN[2:], "--arrivals requires --model engine"),
        (RUN[:4], "--arrivals requires --service"),
        ((*RUN[:2], *RUN[4:]), "--service requires --arrivals"),
        ((*RUN, "--tick", 0.1), "cannot combine --arrivals with --tick"),
        ((*RUN, "--no-backpressure"), "cannot combine --arrivals with --backpressure"),
        ((*RUN, "--scene", "x.json"), "cannot combine --arrivals with --scene"),
        ((*RUN, "--duration", 0), "--duration: must be above 0"),
        ((*RUN, "--duration", 1e6), "choose at most 10000 s, or a lower source rate"),
        (
            (*RUN, "--source-rate", 2000),
            "graph.json: device 'd0' is used 100.0%, so with random arrivals its queue grows",
        ),
    ],
)
def test_refusals(
    options: tuple[object, ...], message: str, files: tuple[Path, Path], capsys: Capture
) -> None:
    assert message in refused(capsys, "simulate", *files, *options)
