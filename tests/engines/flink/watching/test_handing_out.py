"""Actions that go on by the way in which they began."""

from pathlib import Path

import pytest

from streamplace.control.journal import Entry
from streamplace.engines.flink.watching.handing_out import HandingOut
from tests.support.flink_actions import AFTER, rescales, restarts
from tests.support.flink_server.cluster import JOB
from tests.support.flink_server.server import ScriptedFlink


@pytest.mark.parametrize("chooses", [True, False])
def test_a_change_in_place_goes_on_in_place(tmp_path: Path, chooses: bool) -> None:
    """Even if the next controller would restart the job."""
    flink, entries = ScriptedFlink(scheduler="Adaptive"), list[Entry]()

    def record(step: str, details: object) -> None:
        entries.append(Entry(flink.clock(), step, details))  # type: ignore[arg-type]
        raise KeyboardInterrupt

    with flink.serving() as url:
        in_place = rescales(url)
        with pytest.raises(KeyboardInterrupt):
            in_place.act(JOB, AFTER, record)
        going_on = HandingOut(in_place.client, tmp_path, in_place, restarts(url), chooses)
        done = going_on.resume(JOB, AFTER, entries, lambda step, details: None)
    assert done is not None
    assert done.succeeded, done.reason
    assert flink.jobs[JOB].parallelism == AFTER.parallelism
    assert all(change.startswith("PUT") for change in flink.changes)
