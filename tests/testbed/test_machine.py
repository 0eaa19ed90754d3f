"""The emulator, on machines that can run it, and its messages elsewhere."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.testbed import facilities, groups, leftovers, ownership
from benchmarks.testbed.emulator import Emulator, swept
from benchmarks.testbed.interruptions import host_links, interrupt
from benchmarks.testbed.scaling import Machine, scale
from streamplace import Cluster, Network, Operator, Problem, Stream, StreamGraph
from tests.support.paths import ROOT

SHORT = (sys.executable, "-m", "benchmarks.testbed", "short")
lacking = facilities.lacking()
needs_a_machine = pytest.mark.skipif(bool(lacking), reason=f"testbed: {', '.join(lacking)}")


def refusal(command: tuple[str, ...], **environment: str) -> str:
    """Return the line that a command prints on stderr when it ends with exit code 2."""
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **environment},
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.mark.long
def test_missing_programs_are_reported() -> None:
    assert "no ip (iproute2), no tc (iproute2), no unshare (util-linux)" in refusal(
        SHORT, PATH="/nowhere"
    )


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root in order to drop it")
def test_missing_root_is_reported() -> None:
    """The command runs as the user `nobody`, after dropping root."""
    code = (
        "import os, sys; import benchmarks.testbed.__main__ as m; os.setuid(65534); "
        "sys.argv[1:] = ['short']; sys.exit(m.main())"
    )
    assert "not root" in refusal((sys.executable, "-c", code))


def test_missing_cgroup_v1_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Newer machines have only cgroup v2."""
    mounts = tmp_path / "mounts"
    mounts.write_text("cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n")
    monkeypatch.setattr(facilities, "MOUNTS", mounts)
    with pytest.raises(facilities.TestbedError, match="no cgroup v1 controller cpu, no cgroup v1"):
        facilities.check()


def test_controllers_with_one_mount_point(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"cgroup {tmp_path} cgroup rw,cpu,cpuacct 0 0\n")
    monkeypatch.setattr(facilities, "MOUNTS", mounts)
    group = groups.Group("one", 0.04)
    assert group.folders == [tmp_path / "one"]
    assert (tmp_path / "one" / "cpu.cfs_period_us").read_text() == "25000"
    assert (tmp_path / "one" / "cpu.cfs_quota_us").read_text() == "1000"


@pytest.mark.parametrize("share", [0.9, 0.2, 0.05, 0.04, 0.0123, 0.001])
def test_quota_over_period_is_the_share(share: float) -> None:
    period, quota = groups.quota_of(share)
    assert quota >= 1000
    assert period <= 1_000_000
    assert quota / period == pytest.approx(share, rel=0.01)


def test_a_cpu_share_below_the_minimum_of_the_kernel_is_refused() -> None:
    with pytest.raises(
        facilities.TestbedError,
        match=r"a device would get 0\.0009 of a core; the minimum is 0\.001",
    ):
        groups.quota_of(0.0009)


def test_names_of_other_programs_have_no_prefix() -> None:
    for name in ("streamplace--5-x", "streamplace-a-5-x", "streamplace-5-x", "streamplace-²-5-x"):
        assert ownership.prefix_of(name) is None


def test_a_name_identifies_its_process() -> None:
    own = ownership.own_prefix()
    assert ownership.prefix_of(f"{own}1d0") == own
    assert ownership.is_alive(own)
    assert not ownership.is_alive(f"streamplace-{os.getpid()}-1-")
    done = subprocess.Popen(["true"])
    done.wait()
    assert not ownership.is_alive(f"streamplace-{done.pid}-1-")
    for other in ("streamplace", "streamplace-a-b-c", "docker-1-2-3", "streamplace-1-2"):
        assert ownership.prefix_of(other) is None


@pytest.mark.long
@needs_a_machine
@pytest.mark.parametrize("kind", ["pair", "nic"])
def test_a_link_limits_what_arrives(kind: str) -> None:
    """The link between the two devices can carry half of the stream."""
    operators = [Operator("a", 100_000, 62_500.0), Operator("b", 100_000, 0)]
    graph = StreamGraph(operators, [Stream("a", "b")], source_rate=4000.0)
    network = Network(kind, bandwidth_mbps=1000.0)  # type: ignore[arg-type]
    problem = Problem(graph, Cluster.equal(2, network=network))
    small = scale(problem, Machine(cores=0.2, tuples_s=80.0))
    with swept():
        with Emulator(problem.cluster.network.kind, small.shares, small.mbps) as emulator:
            found = emulator.run(small, np.array([0, 1], dtype=np.int32), 0.7, 1.0)
            alone = emulator.run(small, np.array([1, 1], dtype=np.int32), 0.2, 0.4)
        left = leftovers.everything().get(ownership.own_prefix(), [])
    assert 0 < found.relative_throughput < 0.6  # at most half, however slow the machine is
    assert 0 < found.link_utilisation.max() < 1.1
    assert alone.relative_throughput > 0
    assert alone.link_utilisation.max() < 0.05
    assert found.device_utilisation.min() > 0
    assert left == []


@pytest.mark.long
@needs_a_machine
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_nothing(how: signal.Signals) -> None:
    assert interrupt(how, 0.6, host_links()) == []


@needs_a_machine
def test_leftovers_of_an_ended_run_are_removed() -> None:
    dead, alive = f"streamplace-{os.getpid()}-1-1d0", f"{ownership.own_prefix()}9d0"
    subprocess.run(["ip", "netns", "add", dead], check=True)
    try:
        subprocess.run(["ip", "netns", "add", alive], check=True)
        for prefix in leftovers.prefixes_of_ended_runs():
            leftovers.remove(prefix)
        assert dead not in leftovers.namespaces()
        assert alive in leftovers.namespaces()
    finally:
        leftovers.remove(ownership.own_prefix())
    assert alive not in leftovers.namespaces()
