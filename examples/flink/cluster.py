"""A local Flink cluster that runs until Ctrl-C, on which to try the commands of the documentation.

    python examples/flink/cluster.py FLINK_HOME [COUNT]

`make flink-cluster` runs it. It has three TaskManagers, d0 to d2, or COUNT of them, with the labels
dev_d0 to dev_d2, as the devices of `--devices 3x2500` are called.
"""

import shlex
import signal
import sys
from pathlib import Path

from local_flink import LocalFlink, TaskManager
from scripting import ScriptError, terminated

FOLDER = Path("flink-loop").resolve() / "cluster"
LABEL, SLOTS = 1000, 2


def main(home: Path, count: int) -> int:
    """Run the cluster until a signal ends it."""
    managers = [TaskManager(f"d{i}", {f"dev_d{i}": LABEL}, slots=SLOTS) for i in range(count)]
    with LocalFlink(home, FOLDER, managers, restarts=True) as flink:
        print(f"Flink runs at {flink.url}, and its logs are in {FOLDER / 'log'}; Ctrl-C ends it.")
        print("Start a jar with")
        conf = f"FLINK_CONF_DIR={shlex.quote(str(FOLDER / 'conf'))}"
        print(f"{conf} {shlex.join(flink.client)} run -d job.jar", flush=True)
        signal.pause()
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, terminated)
    try:
        sys.exit(main(Path(sys.argv[1]).resolve(), int((sys.argv[2:] or ["3"])[0])))
    except KeyboardInterrupt:
        sys.exit(0)
    except ScriptError as error:
        sys.exit(f"flink-cluster: {error}")
