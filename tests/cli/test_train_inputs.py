"""Files that `train` reads are not overwritten."""

import json
from pathlib import Path

import pytest

from benchmarks.reference.trainings import config, graphs, of_kind
from streamplace.files import write_dataset
from streamplace.training import train
from streamplace.training.run import CHECKPOINT, POLICY
from tests.support.cli import Capture, refused, succeeds


@pytest.mark.parametrize("key", ["start", "teacher"])
def test_weights_that_a_stage_reads_are_not_overwritten(
    key: str, tmp_path: Path, capsys: Capture
) -> None:
    settings, run = config(of_kind("placeto"), problems={"devices": ["3x2500"]}), tmp_path / "run"
    train(graphs(), settings, run)
    (run / CHECKPOINT).unlink()
    placer, value = f"policy:file={run / POLICY}", settings.model_dump(mode="json")
    if key == "start":
        value["stage"][0]["start"] = placer
    else:
        value["stage"].insert(0, {"algorithm": "imitation", "teacher": placer, "epochs": 1})
    (tmp_path / "next.json").write_text(json.dumps(value))
    before = (run / POLICY).read_bytes()
    write_dataset(tmp_path / "graphs.jsonl", graphs())
    words = [tmp_path / "graphs.jsonl", "--config", tmp_path / "next.json", "-o"]
    message = refused(capsys, "train", *words, run)
    assert message.startswith(f"streamplace: -o {run / POLICY}: would overwrite the input")
    assert (run / POLICY).read_bytes() == before
    succeeds(capsys, "train", *words, tmp_path / "other")
