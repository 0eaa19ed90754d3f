"""A local Flink cluster that runs until Ctrl-C, on which to try the commands of the documentation.

    python examples/flink/cluster.py FLINK_HOME [COUNT]

`make flink-cluster` runs it. It has three TaskManagers, d0 to d2, or COUNT of them, as the devices
of `--devices 3x2500` are called, with the labels that `export --to flink-config` writes for them.
"""

import shlex
import signal
import sys
from contextlib import suppress
from pathlib import Path

from local_flink import LocalFlink, TaskManager
from scripting import script

from streamplace.engines.flink.groups import device_labels

FOLDER = Path("flink-loop").resolve() / "cluster"
OPERATORS = 8  # of a job, at most; the labels of more are those of fewer, and further ones
SLOTS = 2


def main(home: Path, count: int) -> int:
    """Run the cluster until a signal ends it."""
    labels = device_labels([f"d{i}" for i in range(count)], OPERATORS).offered
    managers = [TaskManager(name, offered, slots=SLOTS) for name, offered in labels.items()]
    with LocalFlink(home, FOLDER, managers, restarts=True) as flink:
        print(f"Flink runs at {flink.url}, and its logs are in {FOLDER / 'log'}; Ctrl-C ends it.")
        print("Start a jar with")
        conf = f"FLINK_CONF_DIR={shlex.quote(str(FOLDER / 'conf'))}"
        print(f"{conf} {shlex.join(flink.client)} run -d job.jar", flush=True)
        signal.pause()
    return 0


if __name__ == "__main__":
    with suppress(KeyboardInterrupt), script("flink-cluster"):
        sys.exit(main(Path(sys.argv[1]).resolve(), int((sys.argv[2:] or ["3"])[0])))
