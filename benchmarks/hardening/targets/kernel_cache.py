"""Compilation of all numba kernels, before it could distort measurements of time and memory."""

import subprocess
import sys

from benchmarks.hardening.harness.environment import ROOT, environment


def compile_all() -> None:
    """Run valid commands in a process, which stores the compiled kernels in the cache on disk."""
    command = [sys.executable, "-c", "import benchmarks.hardening.targets.warm_up.reading"]
    subprocess.run(command, cwd=ROOT, env=environment(), check=True)
