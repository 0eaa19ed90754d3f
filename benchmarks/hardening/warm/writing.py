"""What to have done before the first fork, so that a command takes as long as its work.

Importing this module loads libraries and kernels by running small commands; it trains nothing,
since what trains has threads, which no fork takes along.
"""

import contextlib
import io
import os
import tempfile
from pathlib import Path

import torch

from streamplace.cli.main import main
from streamplace.plots.training_curves import draw_curves
from streamplace.training import trainer

with contextlib.suppress(ImportError):
    from torch.utils.tensorboard import SummaryWriter

torch.optim.Adam([torch.zeros(1)])  # loads the half of torch that is slow to load
LOADED = (trainer, "SummaryWriter" in globals() and SummaryWriter)


def warm() -> None:
    """Run small commands in a folder of their own."""
    with tempfile.TemporaryDirectory(prefix="streamplace-warm-") as name:
        folder = Path(name)
        graphs, one = folder / "graphs.jsonl.gz", folder / "one.json"
        for command in (
            ["generate", "dream", "--count", "2", "-o", graphs],
            ["generate", "layered", "--operators", "20", "-o", one],
            ["place", one, "--placer", "greedy", "--source-rate", "1e3", "-o", folder / "p.json"],
            ["compare", graphs, "--placers", "greedy,random", "--source-rate", "1e4", "-o", folder],
        ):
            with (
                contextlib.redirect_stdout(io.StringIO()),
                contextlib.redirect_stderr(io.StringIO()),
            ):
                main([str(word) for word in (*command, "--quiet")])
        draw_curves(folder / "curves.png", {"run": [{"step": 1.0, "reward": 0.5}]})


warm()
assert len(os.listdir("/proc/self/task")) == 1, "what forks has a single thread"
