"""The program that torchrun starts for the tests of distributed training."""

import json
import os
import signal
import sys
from pathlib import Path

from streamplace.cli.main import main
from streamplace.files import read_dataset
from streamplace.files.training_logs import POLICY
from streamplace.learning.policy.weights import read_policy
from streamplace.learning.training import read_config, train
from streamplace.learning.training.algorithms.base import Record

STOP = 3
LEADER, OTHER = range(2)


def stop_here(record: Record) -> None:
    """Interrupt the process that writes no files."""
    if record["step"] == STOP and int(os.environ["RANK"]) == OTHER:
        signal.raise_signal(signal.SIGINT)


def nothing(record: Record) -> None:
    """Do nothing."""


def meet_at(port: str) -> None:
    """Set a new address for the processes to meet; torchrun's can be used only once."""
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    os.environ["TORCHELASTIC_USE_AGENT_STORE"] = "False"


def run(dataset: str, config: str, folder: Path, *ports: str) -> None:
    """Train without interruption, then with one, then resume; write the results of each."""
    runs = [
        ("uninterrupted", "uninterrupted", False, nothing),
        ("stopped", "parts", False, stop_here),
        ("resumed", "parts", True, nothing),
    ]
    rank = os.environ["RANK"]
    for port, (name, where, resume, on_step) in zip(["", *ports], runs, strict=False):
        if port:
            meet_at(port)
        graphs, cfg = read_dataset(dataset), read_config(config)
        done = train(graphs, cfg, folder / where, resume=resume, on_step=on_step)
        if int(rank) == LEADER:
            card = read_policy(folder / where / POLICY)[1]
            (folder / f"{name}.json").write_text(json.dumps(card))
        (folder / f"{name}-{rank}.json").write_text(json.dumps(done.to_dict()))
    meet_at(ports[-1])
    again = ["train", dataset, "--config", config, "-o", str(folder / "parts"), "--resume"]
    sys.exit(main([*again, "--json"]))


if __name__ == "__main__":
    run(sys.argv[1], sys.argv[2], Path(sys.argv[3]), *sys.argv[4:])
