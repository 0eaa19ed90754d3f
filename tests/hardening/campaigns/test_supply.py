"""Software supply chain: the checks pass; faults of locks, licences and installs are counted."""

from pathlib import Path

import pytest

from benchmarks.hardening.campaigns.supply import campaign
from benchmarks.hardening.harness.environment import ROOT
from benchmarks.hardening.harness.rows import Row
from benchmarks.hardening.supply import licences
from benchmarks.hardening.supply.locks import Entry, entries, read_lock

SHARE = 0.1


def test_the_quick_rows_are_good() -> None:
    for row in campaign.run(SHARE):
        assert row.good, (row, row.faults)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("click==8.5.1", "without a hash"),
        ("click==8.5.0 \\\n --hash=sha256:aa", "not at the pinned version"),
        ("rich==15.0.0 \\\n --hash=sha256:aa", "missing"),
    ],
)
def test_faults_of_locks_are_noticed(
    fault: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty_lock(name: str) -> list[Entry]:
        found = [entry for entry in read_lock(name) if entry.key != "click"]
        return [*found, *entries(fault)] if name == "dev" else found

    monkeypatch.setattr(campaign, "read_lock", faulty_lock)
    assert campaign.locks_row().wrong[kind] == 1


@pytest.mark.parametrize(
    "line",
    ["$(BIN)/python $(INSTALL) -e .", "pip install numpy", "$(BIN)/python $(INSTALL) -r x.txt"],
)
def test_an_install_without_hashes_is_noticed(line: str) -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert campaign.installs_row(f"{makefile}\nx:\n\t{line}\n").wrong["not by hash"] == 1


def test_faults_of_licences_are_noticed() -> None:
    text = (ROOT / "LICENSES.md").read_text()
    row = next(line for line in text.splitlines() if line.startswith("| click |"))
    assert campaign.licences_row(text.replace(row + "\n", "")).wrong["not listed"] == 1
    another = "| left-pad | 1.0 | MIT | users |\n"
    assert campaign.licences_row(text + another).wrong["not locked"] == 1
    unknown = row.replace(row.split(" | ")[2], licences.UNKNOWN)
    assert campaign.licences_row(text.replace(row, unknown)).wrong["unknown"] == 1


@pytest.mark.parametrize(
    ("output", "answered", "wrong"),
    [
        ("no json", 0, {}),
        ('{"dependencies": [{"name": "a", "skip_reason": "x"}]}', 0, {}),
        (
            '{"dependencies": [{"name": "a", "vulns": [{"id": "CVE-1"}]}]}',
            1,
            {"vulnerabilities": 1, "no answer": 0},
        ),
        (
            '{"dependencies": [{"name": "a", "vulns": []}, {"name": "b", "skip_reason": "x"}]}',
            1,
            {"vulnerabilities": 0, "no answer": 1},
        ),
        (
            '{"dependencies": [{"name": "a", "vulns": []}]}',
            1,
            {"vulnerabilities": 0, "no answer": 0},
        ),
    ],
)
def test_packages_without_an_answer_do_not_count_as_tried(
    output: str,
    answered: int,
    wrong: dict[str, int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A row without answers says so and is not good; nor is one with some answers missing."""
    audit = tmp_path / "pip-audit"
    monkeypatch.setattr(campaign, "AUDIT", audit)
    monkeypatch.setattr(campaign, "lock_names", lambda: ["fuzz"])
    assert campaign.advisories_row().figures == {"not run": "make harden installs pip-audit"}
    audit.write_text(f"#!/bin/sh\necho '{output}'\n")
    audit.chmod(0o755)
    row = campaign.advisories_row()
    assert (row.tried, row.wrong) == (answered, wrong)
    assert row.figures == ({} if answered else {"not run": "service not reachable"})
    assert row.good is (answered > 0 and not any(wrong.values()))


def test_a_row_without_tries_is_not_good() -> None:
    assert not Row("packages", 0, {"without a hash": 0}).good
