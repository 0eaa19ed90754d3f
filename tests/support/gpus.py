"""Tests on a GPU, each in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.support.cli import ENVIRONMENT
from tests.support.paths import ROOT

needs_gpu = pytest.mark.skipif(
    not (Path("/dev/nvidia0").exists() and torch.version.cuda),
    reason="needs an NVIDIA GPU and a build of PyTorch with CUDA",
)


def run_on_gpu(program: str, *arguments: str) -> None:
    """Run a Python program that can use the GPU, which all other processes of the tests cannot.

    It must exit with 0.
    """
    visible = os.environ["STREAMPLACE_TEST_GPUS"]  # see tests/conftest.py
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=ROOT,
        env={**ENVIRONMENT, "CUDA_VISIBLE_DEVICES": visible},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert not done.returncode, done.stderr
