"""Commands with limits on their time and output."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from streamplace.errors import BackendError
from streamplace.execution.commands import AT_ONCE, outputs_of
from tests.support.guards import hang_guard

MIB = 1 << 20
ENOUGH_S = 60.0  # for commands that end


def output(*words: str, within_s: float = ENOUGH_S) -> bytes:
    """Run one command."""
    with hang_guard():
        return outputs_of({"x": words}, within_s, MIB)["x"]


def shell(text: str, within_s: float = ENOUGH_S) -> bytes:
    """Run a shell's command."""
    return output("sh", "-c", text, within_s=within_s)


def ended(pid: Path) -> bool:
    """Return whether the process whose id a file has ends soon."""
    until = time.monotonic() + ENOUGH_S
    while time.monotonic() < until:
        stat = Path("/proc", pid.read_text().strip(), "stat")
        try:
            if stat.read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def test_each_command_has_its_own_output() -> None:
    count = 2 * AT_ONCE + 1
    commands = {f"{i}": ("echo", f"it is {i}") for i in range(count)}
    with hang_guard():
        found = outputs_of(commands, ENOUGH_S, MIB)
    assert found == {f"{i}": f"it is {i}\n".encode() for i in range(count)}


def test_commands_run_at_the_same_time(tmp_path: Path) -> None:
    """Each waits for the other one."""
    wait = f"cd '{tmp_path}'; touch $0; while [ ! -e $1 ]; do sleep 0.02; done; echo $0"
    commands = {"a": ("sh", "-c", wait, "a", "b"), "b": ("sh", "-c", wait, "b", "a")}
    with hang_guard():
        assert outputs_of(commands, ENOUGH_S, MIB) == {"a": b"a\n", "b": b"b\n"}


def test_much_output_on_both_pipes_blocks_nothing() -> None:
    many = "i=0; while [ $i -lt 20000 ]; do echo 0123456789; echo 0123456789 >&2; i=$((i+1)); done"
    assert len(shell(many)) == 220_000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("exit 3", r"sh -c 'exit 3' failed with 3$"),
        ("echo one; echo two >&2; exit 1", "failed with 1: two$"),
        ("echo one; exit 1", "failed with 1: one$"),
        ("exec >&-; sleep 0.2; echo late >&2; exit 1", "failed with 1: late$"),
        ("kill -9 $$", r"sh -c 'kill -9 \$\$' was ended by signal 9$"),
    ],
)
def test_commands_that_fail(text: str, message: str) -> None:
    with pytest.raises(BackendError, match=message):
        shell(text)


@pytest.mark.parametrize("text", ["sleep 99", "while :; do echo 0; sleep 0.01; done"])
def test_commands_that_take_too_long(text: str) -> None:
    with pytest.raises(BackendError, match=r"no end within 0\.3 s$"):
        shell(text, within_s=0.3)


def test_a_command_that_only_ends_its_output() -> None:
    with pytest.raises(BackendError, match=r"no end within|its output has ended, but not"):
        shell("exec >&- 2>&-; exec sleep 99", within_s=1.0)


def test_a_command_that_cannot_be_run() -> None:
    with pytest.raises(BackendError, match="cannot run no-such-command 'a b': No such file"):
        output("no-such-command", "a b")


@pytest.mark.parametrize("pipe", ["", " >&2"])
def test_endless_output_is_not_kept(pipe: str) -> None:
    with pytest.raises(BackendError, match="printed more than 1 MiB"):
        shell(f"yes{pipe}")


def test_children_of_a_command_end_with_it(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    with pytest.raises(BackendError, match="more than 1 MiB"):
        shell(f"sleep 99 & echo $! > '{pid}'; yes")
    assert ended(pid)


def test_a_command_that_fails_ends_the_others(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    other = f"echo $$ > '{pid}.new'; mv '{pid}.new' '{pid}'; exec sleep 99"
    fails = f"while [ ! -e '{pid}' ]; do sleep 0.02; done; exec yes"
    with hang_guard(), pytest.raises(BackendError, match="more than 1 MiB"):
        outputs_of({"a": ("sh", "-c", other), "b": ("sh", "-c", fails)}, ENOUGH_S, MIB)
    assert ended(pid)


def test_a_process_that_is_left_behind_may_keep_stderr() -> None:
    """As the master process of ssh does with ControlPersist."""
    assert shell("sleep 9 >/dev/null & echo done", within_s=8.0) == b"done\n"


def test_an_interrupt_ends_the_command(tmp_path: Path) -> None:
    pid = tmp_path / "pid"

    def interrupt() -> None:
        while not pid.exists():
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        shell(f"echo $$ > '{pid}.new'; mv '{pid}.new' '{pid}'; exec sleep 99")
    assert ended(pid)


def test_words_reach_the_command_unchanged() -> None:
    program = "import sys; print(sys.argv[1:])"
    assert output(sys.executable, "-c", program, "a b", "$x", "") == b"['a b', '$x', '']\n"
