"""Commands of the testbed on a machine that lacks what they need."""

import subprocess
import sys

from tests.support.paths import ROOT


def without_programs(module: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Return how a command ended on a machine without programs."""
    return subprocess.run(
        (sys.executable, "-m", module, *words),
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={"PATH": "/nowhere", "PYTHONPATH": str(ROOT)},
        check=False,
    )


def check_reported_or_skipped(module: str) -> None:
    """Check that a campaign is refused in one line there, or skipped in one with `--or-skip`."""
    refused = without_programs(module, "campaign")
    assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (2, "", 1)
    assert "no ip (iproute2), no tc (iproute2)" in refused.stderr
    skipped = without_programs(module, "campaign", "--or-skip")
    assert (skipped.returncode, skipped.stdout.count("\n"), skipped.stderr) == (0, 1, "")
    assert "skipped, because this machine lacks" in skipped.stdout
