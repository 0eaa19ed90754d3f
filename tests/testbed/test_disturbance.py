"""Idle and stolen CPU time, from texts of /proc/stat."""

from benchmarks.testbed.disturbance import Times, parsed

TEXT = "cpu  100 20 30 {idle} 50 0 0 {stolen} 7 7\ncpu0 1 1 1 1 1 1 1 1 1 1\nintr 5\n"


def test_time_in_virtual_machines_is_not_counted_twice() -> None:
    assert parsed(TEXT.format(idle=700, stolen=100)) == Times(1000, 750, 100)


def test_a_disturbed_run_shows_stolen_time() -> None:
    before, after = (parsed(TEXT.format(idle=i, stolen=s)) for i, s in ((700, 100), (775, 125)))
    line = "of the CPU time of the machine, 75.0% was idle and 25.0% was stolen"
    assert after.since(before) == line
    assert "0.0% was idle" in after.since(after)
