"""Cards that `benchmarks.cards` adds to weights."""

import sys
from pathlib import Path

import pytest

from benchmarks import cards
from benchmarks.reference.trainings import config, graphs
from streamplace.files.training_logs import POLICY
from streamplace.learning.policy.weights import parameter_hash, read_policy
from streamplace.learning.training import train


def test_results_are_added_to_the_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train(graphs(), config(), tmp_path / "run")
    path = tmp_path / "run" / POLICY
    policy, before = read_policy(path)
    monkeypatch.setattr(sys, "argv", ["cards", str(path), "--commit", "abc", "mean=0.5"])
    cards.main()
    again, after = read_policy(path)
    assert parameter_hash(again) == parameter_hash(policy) == after["parameter_hash"]
    assert (after["commit"], after["results"]) == ("abc", {"mean": 0.5})
    for key in ("problems", "processes", "config", "step"):
        assert after[key] == before[key]
