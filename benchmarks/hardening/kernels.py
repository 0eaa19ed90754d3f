"""Kernels compiled beforehand: else whoever needs one first takes a second, and LLVM's memory."""

import subprocess
import sys

from benchmarks.hardening.forks import ROOT, environment


def compile_all() -> None:
    """Run good commands in a process that ends, and keep what was compiled on the disk."""
    command = [sys.executable, "-c", "import benchmarks.hardening.warm.reading"]
    subprocess.run(command, cwd=ROOT, env=environment(), check=True)
