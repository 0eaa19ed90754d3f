"""Compilation of all kernels before measurements, which it would slow and enlarge."""

import subprocess
import sys

from benchmarks.hardening.harness.environment import ROOT, environment


def compile_all() -> None:
    """Run good commands in a process, which leaves compiled kernels in the cache on the disk."""
    command = [sys.executable, "-c", "import benchmarks.hardening.targets.warm_up.reading"]
    subprocess.run(command, cwd=ROOT, env=environment(), check=True)
