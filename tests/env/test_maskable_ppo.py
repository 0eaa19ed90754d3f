"""The example that trains Stable-Baselines3's maskable PPO, with fewer steps."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT


@pytest.mark.long
def test_a_trained_policy_beats_chance(tmp_path: Path) -> None:
    pytest.importorskip("sb3_contrib", reason="streamplace[rl] is not installed")
    script = ROOT / "examples" / "maskable_ppo.py"
    done = subprocess.run(
        [sys.executable, str(script), "3000"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    chance, trained = map(float, re.findall(r"0\.\d{3}", done.stdout))
    assert trained > chance + 0.05
    assert "the trained policy is better" in done.stdout
