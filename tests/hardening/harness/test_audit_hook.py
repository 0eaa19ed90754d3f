"""The recorder of side effects, in a process of its own since a hook cannot be removed."""

import subprocess
import sys
from pathlib import Path

RECORDING = """
import os, sys, threading
from pathlib import Path
from benchmarks.hardening.harness.audit_hook import UNRECORDED, AuditHook
os.chdir(sys.argv[1])
with AuditHook(Path.cwd()).recorded() as effects:
    for name in ("recorded", UNRECORDED):
        thread = threading.Thread(target=Path(name).write_bytes, args=(b"",), name=name)
        thread.start()
        thread.join()
print(*effects, sep="\\n")
"""


def test_side_effects_of_all_threads_but_those_of_the_campaign(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RECORDING, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert [line.split("'")[1] for line in done.stdout.splitlines()] == ["recorded"]
