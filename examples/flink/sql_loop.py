"""A job of Flink SQL: profiled, placed, restarted and verified, with its state, round after round.

    python examples/flink/sql_loop.py FLINK_HOME [ROUNDS]

`make flink-loop` runs it last. The state is complete if the number of bids of every auction goes
on from one start of the job to the next.
"""

import json
import re
import sys
from collections import defaultdict
from pathlib import Path

from apply_loop import FOLDER, MIPS, RATE, SLOTS, SPEED, place
from counting import Counting, devices_of
from local_flink import LocalFlink, TaskManager
from scripting import ScriptError, call, say, script, streamplace
from submitted import HERE, build

PROFILE_S = 20
PRINTED = re.compile(r"\+[IU]\[(\d+), (\d+), ")
NUMBER = re.compile(r"^\[\d+\]:")
COSTS = "[default]\ninstructions = 100_000  # of the source, which is not measured\n"


class Bids(Counting):
    """The job of SqlJob.java, whose sink prints to the TaskManagers' logs."""

    def __init__(self, flink: LocalFlink, jar: Path) -> None:
        super().__init__(flink, jar, FOLDER / "sql-out", RATE)
        self.arguments = [f"{RATE}", "1"]
        self.logs = [FOLDER / "log" / f"{name}.out" for name in SPEED]
        self.skipped = [log.stat().st_size for log in self.logs]

    def counts(self) -> dict[str, list[int]]:
        """Return auction -> the numbers of bids that were printed, sorted."""
        found: dict[str, list[int]] = defaultdict(list)
        for log, skipped in zip(self.logs, self.skipped, strict=True):
            for auction, bids in PRINTED.findall(log.read_text(errors="replace")[skipped:]):
                found[auction].append(int(bids))
        return {key: sorted(counts) for key, counts in found.items()}


def one_round(bids: Bids) -> None:
    """Profile the job, and apply two placements, one after the other.

    Raises
    ------
    ScriptError
        If an operator is not where its placement says, or state was lost.
    """
    job = bids.start()
    graph, costs = FOLDER / "sql-graph.json", FOLDER / "sql-costs.toml"
    costs.write_text(COSTS)
    measured = ["--mips", f"{MIPS}", "--seconds", f"{PROFILE_S}", "--costs", str(costs)]
    streamplace("profile", "flink", bids.flink.url, "--job", job, *measured, "-o", str(graph))
    names = [each["name"] for each in json.loads(graph.read_text())["operators"]]
    for aggregate, rest in (("slow", "fast"), ("fast", "slow")):
        pins = {name: aggregate if "GroupAggregate" in name else rest for name in names}
        placement = place(graph, f"sql-{aggregate}", pins)
        command = bids.apply_command(placement, job, "--without-uids", "--json")
        job = json.loads(call(command))["job"]
        wanted = {NUMBER.sub("", name): on for name, on in devices_of(placement).items()}
        found = {NUMBER.sub("", name): on for name, on in bids.where(job).items()}
        if found != wanted or bids.running() != [job]:
            raise ScriptError(f"placed {wanted}, but {found}")
        bids.check_state()
        say(f"every operator runs where it was placed, GroupAggregate on {aggregate}")
    bids.cancel()


def main(home: Path, rounds: int) -> int:
    """Run the rounds; return 0 if all are green."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    jar = build(FOLDER, home, "SqlJob", [HERE / "SqlJob.java"])
    managers = [
        TaskManager(name, {f"dev_{name}": 1000}, speed, SLOTS) for name, speed in SPEED.items()
    ]
    with LocalFlink(home, FOLDER, managers, restarts=True) as flink:
        for number in range(1, rounds + 1):
            one_round(Bids(flink, jar))
            print(f"SQL round {number} of {rounds}: green", flush=True)
    return 0


if __name__ == "__main__":
    with script("sql-loop"):
        sys.exit(main(Path(sys.argv[1]).resolve(), int((sys.argv[2:] or ["2"])[0])))
