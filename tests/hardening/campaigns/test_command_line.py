"""Commands that read bad files: a share of the campaign passes, and faults are counted."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.hardening.campaigns.command_line import campaign
from benchmarks.hardening.campaigns.command_line.campaign import numbers_of
from benchmarks.hardening.campaigns.command_line.cases import COUNT, NO_PATH, Case, bad_file_of
from benchmarks.hardening.campaigns.command_line.judgement import SHOWN, Verdicts, faults_of
from benchmarks.hardening.corpus import own_files
from benchmarks.hardening.corpus.special_files import SPECIAL_FILES
from benchmarks.hardening.harness.forks import Ended
from benchmarks.hardening.harness.memory_limits import memory_limit
from benchmarks.hardening.mutation.numbered_documents import BOMBS_AT, CUT_AT, ENCODINGS_AT
from benchmarks.hardening.targets.commands import COMMANDS, WITHOUT_COMMAND, Command
from benchmarks.hardening.targets.parsers import PARSERS

SHARE = 0.005
BAD = "/folder/x.json"
REFUSED = Ended("", f"streamplace: {BAD}: is empty\n", 2, False, 0.2, 0.1, 10**8, 1)


def case(*words: str, bad: str = BAD) -> Case:
    return Case(Command(words), [*words], bad, Path("/folder"), frozenset())


INFO = case("info", BAD, "--json")
PLACE = case("place", BAD, "--placer", "greedy", "-o", "out.json")
TRAIN = case("train", "graph.json", "--config", BAD, "-o", "run")
FLINK = case("profile", "flink", "URL", "--job", "job", bad="http://127.0.0.1:1")
FAILED = [
    (PLACE, f"{BAD}: found no placement that obeys the constraints and memory limits"),
    (PLACE, "no single device may run every operator"),
    (case("simulate", BAD, "placement.json"), f"{BAD}: engine: more than 9 ticks"),
    (case("compare", BAD, "--placers", "metis"), f"{BAD}: METIS failed: no memory"),
    (TRAIN, "parameter x is not finite; nothing is written"),
]


def kind_of(what: str | int) -> str:
    """Return the kind of a bad file."""
    if isinstance(what, str):
        return "special"
    if what < BOMBS_AT:
        return "malformed"
    if what < ENCODINGS_AT:
        return "bomb"
    return "encoding" if what < CUT_AT else "fault"


def test_a_share_of_every_reader() -> None:
    """Times are not checked; a command that does not end is killed, which is a fault."""
    rows = list(campaign.run(SHARE, timed=False))
    assert len(rows) == len(COMMANDS) + 1
    for row in rows:
        assert row.good, (str(row), row.faults)


def test_a_share_contains_each_kind_of_bad_file() -> None:
    kinds = {kind_of(bad_file_of(name, n)) for name in COMMANDS for n in numbers_of(name, SHARE)}
    assert kinds == {"special", "malformed", "bomb", "encoding", "fault"}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_whole_campaign_contains_all_special_and_broken_files(name: str) -> None:
    assert numbers_of(name, 1.0) == [*range(COUNT)]
    found = [bad_file_of(name, number) for number in range(COUNT)]
    assert len({*found}) == COUNT
    assert {*range(BOMBS_AT, CUT_AT)} <= {*found}
    assert sum(kind_of(what) == "malformed" for what in found) * 3 >= BOMBS_AT
    assert ({*SPECIAL_FILES} <= {*found}) == (name not in NO_PATH)


def test_every_reader_has_commands() -> None:
    assert {*COMMANDS, *WITHOUT_COMMAND} == PARSERS.keys()


def test_a_refusal_in_one_line_is_not_a_fault() -> None:
    assert faults_of(INFO, REFUSED, []) == []
    done = replace(REFUSED, code=0, out='{"a": 1}', err="note\n" * 3)
    assert faults_of(INFO, done, ["a.json"]) == []


def test_training_that_is_killed_on_purpose_is_not_a_fault() -> None:
    stopped = replace(REFUSED, code=-9, err="", peak_bytes=2**32, cpu_seconds=6.0)
    assert faults_of(TRAIN, stopped, ["config.json"]) == []
    assert faults_of(TRAIN, stopped, []) == ["tracebacks", "hangs", "over 300 MB"]
    assert faults_of(INFO, stopped, ["config.json"]) != []


@pytest.mark.parametrize(
    ("changed", "added", "noticed"),
    [
        ({"err": "Traceback (most recent call last):\n"}, [], "tracebacks"),
        ({"code": -11}, [], "tracebacks"),
        ({"code": 3}, [], "tracebacks"),
        ({"err": f"{BAD}: UserWarning: odd\nstreamplace: x\n"}, [], "tracebacks"),
        ({"err": f"Exception ignored in: <x>\nstreamplace: {BAD}: x\n"}, [], "tracebacks"),
        ({"err": f"streamplace: {BAD}\nand more\n"}, [], "unclear messages"),
        ({"err": ""}, [], "unclear messages"),
        ({"err": "x.json: is empty\n"}, [], "unclear messages"),
        ({"err": "streamplace: /folder/good.json: is empty\n"}, [], "file not named"),
        ({"cpu_seconds": 1.5}, [], "hangs"),
        ({"asleep_seconds": 1.5}, [], "hangs"),
        ({"hung": True}, [], "hangs"),
        ({"code": 0, "cpu_seconds": 11.0}, [], "hangs"),
        ({"peak_bytes": 300 * 10**6 + 1}, [], "over 300 MB"),
        ({}, ["out.json"], "left files"),
        ({"out": "half"}, [], "left files"),
        ({"code": 0, "out": '{"a": NaN}'}, [], "bad output"),
        ({"code": 1}, [], "exit 1"),
    ],
)
def test_faults_are_noticed(changed: dict[str, object], added: list[str], noticed: str) -> None:
    ended = replace(REFUSED, **changed)  # type: ignore[arg-type]  # fields
    assert faults_of(INFO, ended, added) == [noticed]


@pytest.mark.parametrize(("failed", "message"), FAILED)
def test_valid_input_may_fail(failed: Case, message: str) -> None:
    ended = replace(REFUSED, code=1, err=f"streamplace: {message}\n")
    assert faults_of(failed, ended, []) == []
    assert faults_of(INFO, ended, []) == ["exit 1"]
    added = ["config.json"] if failed is TRAIN else ["half.json"]
    assert faults_of(failed, ended, added) == ([] if failed is TRAIN else ["left files"])


@pytest.mark.parametrize("command", [PLACE, TRAIN, *(failed for failed, _ in FAILED)])
@pytest.mark.parametrize(
    "message",
    ["out of memory", "/etc/passwd: Is a directory", f"{BAD}: is empty", "output: engine"],
)
def test_other_failures_must_not_exit_with_1(command: Case, message: str) -> None:
    ended = replace(REFUSED, code=1, err=f"streamplace: {message}\n")
    assert faults_of(command, ended, []) == ["exit 1"]


def test_a_policy_may_need_too_much_memory(tmp_path: Path) -> None:
    ended = replace(REFUSED, code=1, err="streamplace: out of memory\n")
    assert faults_of(TRAIN, ended, ["config.json"]) == []


def test_only_a_valid_config_may_load_torch(tmp_path: Path) -> None:
    """An invalid config must be refused without torch."""
    file = tmp_path / "config.toml"
    command = case("train", "graph.json", "--config", str(file), "-o", "run", bad=str(file))
    heavy = replace(REFUSED, err=f"streamplace: {file}: x\n", peak_bytes=10**9, cpu_seconds=3.0)
    file.write_text(own_files.CONFIG)
    assert faults_of(command, heavy, []) == []
    file.write_text("x = 1")
    assert faults_of(command, heavy, []) == ["hangs", "over 300 MB"]
    assert faults_of(command, replace(heavy, peak_bytes=10**8, cpu_seconds=0.2), []) == []


def test_a_name_that_is_too_long_is_not_a_config() -> None:
    bad = "n" * 5000
    command = case("train", "graph.json", "--config", bad, "-o", "run", bad=bad)
    message = f"streamplace: {bad[:SHOWN]}…: no such file\n"
    assert faults_of(command, replace(REFUSED, err=message), []) == []


def test_memory_is_also_limited_with_torch() -> None:
    large = replace(REFUSED, peak_bytes=memory_limit(torch=True) + 1)
    assert faults_of(INFO, large, [], torch=True) == ["over 300 MB"]
    assert faults_of(INFO, replace(large, peak_bytes=large.peak_bytes - 1), [], torch=True) == []


def test_a_server_is_named_when_it_fails() -> None:
    failed = replace(REFUSED, code=1, err="streamplace: http://127.0.0.1:1/jobs: not JSON\n")
    assert faults_of(FLINK, failed, []) == []
    assert faults_of(FLINK, replace(failed, err="streamplace: not JSON\n"), []) == [
        "file not named"
    ]
    assert faults_of(FLINK, failed, ["out.json"]) == ["left files"]
    kept = f"{failed.err.strip()}; the measurements made before that are in /folder/out.json\n"
    assert faults_of(FLINK, replace(failed, err=kept), ["out.json"]) == []
    assert not case("place").command.reads_server


def test_without_time_limits_only_a_killed_command_counts_as_hanging() -> None:
    slow = replace(REFUSED, cpu_seconds=99.0, asleep_seconds=99.0)
    assert faults_of(INFO, slow, [], timed=False) == []
    assert faults_of(INFO, replace(slow, hung=True), [], timed=False) == ["hangs"]


def test_a_good_file_that_is_refused_is_noticed() -> None:
    verdicts = Verdicts(torch=False)
    verdicts.judge("x", INFO, REFUSED)
    verdicts.judge_good("x", replace(REFUSED, code=0))
    assert verdicts.row("").good
    verdicts.judge_good("x", REFUSED)
    assert (verdicts.row("").good, verdicts.row("").wrong["valid files refused"]) == (False, 1)
