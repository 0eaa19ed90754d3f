"""Assertions on rows."""

from benchmarks.hardening.harness.rows import Row


def check(row: Row) -> None:
    """Fail with the faults of a row that is not good."""
    assert row.good, f"{row}\n" + "\n".join(row.faults)
