"""What a controller decided in a run, a line each."""

import json
import re
from pathlib import Path

from benchmarks.rivals.loads import WATCH

JOURNAL = Path("journal", "journal.jsonl")
AUTOSCALER_LOG = "autoscaler.log"
EVENT = re.compile(
    r"^\S*?(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\S* .*reason : (\w+), message : (.*), messageKey"
)


def decisions(rival: str, folder: Path) -> list[str]:
    """Return the decisions of `watch`, or the events of the autoscaler, with their times.

    Parameters
    ----------
    folder
        The folder of the run.
    """
    if rival == WATCH:
        rows = [json.loads(line) for line in (folder / JOURNAL).read_text().splitlines()]
        made = [row["decision"] for row in rows if row.get("step") == "window"]
        return [f"{each['at']} {each['state']}: {each['reason']}" for each in made]
    lines = (folder / AUTOSCALER_LOG).read_text().splitlines()
    return [" ".join(found.groups()) for line in lines if (found := EVENT.search(line))]
