"""Small commands that write, run on import, so that libraries and kernels are loaded before a fork.

None of them trains: training starts threads, which forks do not inherit.
"""

import contextlib
import io
import os
import tempfile
from pathlib import Path

import torch

from streamplace.cli.main import main
from streamplace.plots.curves import draw_curves
from streamplace.training import trainer

with contextlib.suppress(ImportError):
    from torch.utils.tensorboard import SummaryWriter

torch.optim.Adam([torch.zeros(1)])  # imports the modules of torch that load slowly
LOADED = (trainer, "SummaryWriter" in globals() and SummaryWriter)


def warm() -> None:
    """Run small commands in a temporary folder."""
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
assert len(os.listdir("/proc/self/task")) == 1, "a fork server must have a single thread"
