"""A counting job with a schedule, on a local cluster of one version of Flink."""

import json
import os
import shutil
import subprocess
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from local_flink import TIMEOUT_S, LocalFlink
from scripting import ScriptError
from submitted import HERE, Submitted, build, wait

RATE = 100  # tuples/s of the source
ENOUGH = 50  # counts
SOURCES = (HERE / "Work.java", HERE / "Clocked.java", Path(__file__).parent / "VersionJob.java")


class Counted(Submitted):
    """The job of VersionJob.java, whose counts are written exactly once.

    Parameters
    ----------
    folder
        For its jar, schedule and output; emptied.
    instances
        Instances of "count" when it is started first.
    """

    def __init__(self, flink: LocalFlink, folder: Path, instances: int) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        self.out, schedule = folder / "out", folder / "schedule"
        self.out.mkdir(parents=True)
        schedule.write_text(f"{time.time() * 1e3:.0f} {RATE}\n")
        jar = build(folder, flink.home, "VersionJob", SOURCES)
        super().__init__(flink, jar, [str(schedule), str(self.out), str(instances)])

    def execution_plan(self) -> str:
        """Return what ``flink info`` prints: the answer of `getExecutionPlan`."""
        command = [*self.flink.client, "info", str(self.jar), *self.arguments]
        environment = {**os.environ, "FLINK_CONF_DIR": str(self.flink.folder / "conf")}
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
        if done.returncode:
            raise ScriptError(f"flink info: {done.stdout}{done.stderr}")
        value, _ = json.JSONDecoder().raw_decode(done.stdout, done.stdout.index("{"))
        return json.dumps(value, indent=1)

    def counts(self) -> dict[str, list[int]]:
        """Return key -> the counts in files that the sink has committed, sorted."""
        found: dict[str, list[int]] = defaultdict(list)
        for file in self.out.rglob("part-*"):
            for line in file.read_text().splitlines():
                key, _, count = line.partition(" ")
                found[key].append(int(count))
        return {key: sorted(counts) for key, counts in found.items()}

    def grows(self) -> None:
        """Wait until more counts have been committed."""
        before = sum(map(len, self.counts().values()))
        wait(lambda: sum(map(len, self.counts().values())) > before + ENOUGH, "nothing arrives")

    def is_exact(self) -> bool:
        """Return whether the counts of each key are 1, 2, 3, …"""
        self.grows()
        return all(counts == [*range(1, len(counts) + 1)] for counts in self.counts().values())

    def program(self) -> Sequence[str]:
        """Return the options of `apply` and `watch` that start the job again."""
        arguments = [word for text in self.arguments for word in ("--arg", text)]
        return ["--jar", str(self.jar), *arguments]
