"""Ray and Dask clusters, which give the same files and tables as local processes."""

import csv
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from benchmarks.reference.trainings import SMALL, graphs
from streamplace import Constraints, Recipe, StreamGraph, compare, write_dataset
from streamplace.errors import BackendError, UsageError
from streamplace.execution import backends, calls
from streamplace.execution.backends import Backend, Present, resources
from streamplace.execution.calls import ClusterMember, Connected, results_of
from streamplace.learning.training import read_config, train
from tests.support.cli import MODULE, Capture, refused, run
from tests.support.clusters import OF_CLUSTERS, PACKAGES, START_S, Options, two_machines
from tests.support.paths import ROOT
from tests.support.training_runs import check_same
from tests.support.worker_loss import KILLED

COUNT = 150  # several calls for each of two processes
BEFORE = re.compile(r": \d process(es)? with [\d,]+ MB each; one needs [\d,]+ MB or more$")
AFTER = re.compile(r": a process needed up to \d+ MB$")


@pytest.fixture(scope="module", params=["ray", "dask"])
def cluster(request: pytest.FixtureRequest) -> Iterator[Options]:
    """Start a cluster of two machines, and return the options that name it."""
    with two_machines(request.param) as options:
        yield options


def done(*words: object) -> str:
    """Run a command that must succeed; return its stderr without the lines about memory."""
    process = run(*words, env=OF_CLUSTERS)
    assert process.returncode == 0, process.stderr
    lines = process.stderr.splitlines()
    notes = [line for line in lines if line.startswith("streamplace: --backend ")]
    if "--backend" in words:
        before, after = notes
        assert BEFORE.search(before)
        assert AFTER.search(after)
    return "\n".join(line for line in lines if line not in notes)


def table(folder: Path) -> list[dict[str, str]]:
    """Return the rows of a comparison's graphs, without times."""
    with (folder / "graphs.csv").open() as file:
        return [{k: v for k, v in row.items() if k != "seconds"} for row in csv.DictReader(file)]


def test_generate_writes_the_same_bytes(cluster: Options, tmp_path: Path) -> None:
    words = ["generate", "dream", "--count", COUNT, "--seed", 3, "-o"]
    done(*words, tmp_path / "local.jsonl.gz", "--jobs", 1)
    assert names_one_file(done(*words, tmp_path / "cluster.jsonl.gz", *cluster))
    written = [(tmp_path / f"{name}.jsonl.gz").read_bytes() for name in ("local", "cluster")]
    assert written[0] == written[1]


def names_one_file(err: str) -> bool:
    """Return whether stderr holds only the line that names the written file."""
    return err.startswith("wrote ") and "\n" not in err


def test_compare_gives_the_same_table(cluster: Options, tmp_path: Path) -> None:
    recipe = Recipe("dream", 40, seed=11)
    write_dataset(tmp_path / "graphs.jsonl", [recipe.graph(number) for number in range(40)])
    words = ["compare", tmp_path / "graphs.jsonl", "--placers", "random,greedy,metis", "-o"]
    on_one = done(*words, tmp_path / "local", "--jobs", 1)
    assert done(*words, tmp_path / "cluster", *cluster) == on_one
    assert table(tmp_path / "local") == table(tmp_path / "cluster")


def test_a_teacher_gives_the_same_labels(cluster: Options, tmp_path: Path) -> None:
    write_dataset(tmp_path / "graphs.jsonl", graphs())
    imitation = '[[stage]]\nalgorithm = "imitation"\nepochs = 1\nteacher = "random"\n\n[[stage]]'
    taught = SMALL.replace("[[stage]]", imitation).replace("epochs = 2", "epochs = 1")
    (tmp_path / "config.toml").write_text(taught)
    train(graphs(), read_config(str(tmp_path / "config.toml")), tmp_path / "local", jobs=1)
    words = ["train", tmp_path / "graphs.jsonl", "--config", tmp_path / "config.toml", "-o"]
    done(*words, tmp_path / "cluster", *cluster)
    check_same(tmp_path / "local", tmp_path / "cluster")


def test_a_failure_on_the_cluster_is_reported(cluster: Options, tmp_path: Path) -> None:
    graph = Recipe("dream", 1).graph(0)
    apart = StreamGraph(
        graph.operators, graph.streams, name="apart", source_rate=1e4,
        constraints=Constraints(exlocate=[graph.names[:2]]),
    )  # fmt: skip
    write_dataset(tmp_path / "graphs.jsonl", [graph, apart])
    words = ["compare", tmp_path / "graphs.jsonl", "--placers", "single", *cluster]
    process = run(*words, env=OF_CLUSTERS)
    assert process.returncode == 1, process.stderr
    assert "apart: single: no single device" in process.stderr.splitlines()[-1]


OWN = """
from streamplace.placers.base import BasePlacer
from streamplace.problem.placement import Placement
class First(BasePlacer):
    def __call__(self, problem, rng, start=None):
        return Placement(problem, [0] * len(problem.graph.names))
"""


WITHOUT_ITS_FILE = """
import os
import sys
import only_here
from streamplace.cli.main import main
os.remove("only_here.py")
sys.exit(main())
"""


def test_workers_that_lack_a_module_say_how_to_ship_it(cluster: Options, tmp_path: Path) -> None:
    """The command has the module without its file, as if the workers were on another machine.

    Ray gives its workers the import path of the command, so that they find a file on this machine.
    """
    (tmp_path / "only_here.py").write_text(OWN)
    recipe = Recipe("dream", 40, seed=11)
    write_dataset(tmp_path / "graphs.jsonl", [recipe.graph(number) for number in range(40)])
    words = ["compare", "graphs.jsonl", "--placers", "only_here:First", *cluster]
    process = subprocess.run(
        [sys.executable, "-c", WITHOUT_ITS_FILE, *words],
        env=OF_CLUSTERS,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 1, process.stderr
    line = process.stderr.splitlines()[-1]  # Dask may log tasks that were under way
    assert "its workers have no module 'only_here'; install it there, " in line


PLACER = "from streamplace.placers.registry import placer_named; placer_named('mine:Own')"


@pytest.mark.parametrize("program", ["import mine", PLACER])
@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("ray", "ray.init(runtime_env={'working_dir': 'FOLDER'})"),
        ("dask", "upload_file('mine.py')"),
    ],
)
def test_a_module_that_a_process_lacks(
    name: str, way: str, program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fault is that of a real process without the module, as the backends pass it on."""
    (tmp_path / "mine.py").write_text("class Own: ...\n")
    words = [sys.executable, "-c", program]
    child = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=False)
    fault = RuntimeError("a task failed")
    fault.__cause__ = RuntimeError(child.stderr)
    with pytest.raises(RuntimeError, match="a task failed"), backends.shipping(Backend(name)):
        raise fault  # this process lacks it, too: the fault is no matter of shipping
    monkeypatch.syspath_prepend(tmp_path)
    message = f"--backend {name}: its workers have no module 'mine'; install it there, "
    with pytest.raises(BackendError) as caught, backends.shipping(Backend(name)):
        raise fault
    assert str(caught.value).startswith(message)
    assert way in str(caught.value)


@pytest.mark.parametrize("name", ["ray", "dask"])
def test_without_an_address_a_local_cluster_is_started(name: str, tmp_path: Path) -> None:
    pytest.importorskip(PACKAGES[name])
    words = ["generate", "dream", "--count", COUNT, "--jobs", 2, "-o"]
    done(*words, tmp_path / "here.jsonl")
    assert names_one_file(done(*words, tmp_path / "there.jsonl", "--backend", name))
    assert (tmp_path / "here.jsonl").read_bytes() == (tmp_path / "there.jsonl").read_bytes()


@pytest.mark.parametrize("name", ["ray", "dask"])
def test_a_killed_worker_changes_nothing(name: str, tmp_path: Path) -> None:
    pytest.importorskip(PACKAGES[name])
    dataset, flag = tmp_path / "dream.jsonl.gz", tmp_path / "killed"
    done("generate", "dream", "--count", 300, "--seed", 2, "--jobs", 1, "-o", dataset)
    placers = f"{KILLED}:graph=dream_150:flag={flag},greedy"
    words = ("compare", dataset, "--placers", placers, "--plots", "none", "-o")
    done(*words, tmp_path / "parallel", "--jobs", 2, "--backend", name)
    assert flag.exists()
    done(*words, tmp_path / "serial", "--jobs", 1)
    one, other = (tmp_path / where / "graphs.csv" for where in ("serial", "parallel"))
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("name", ["ray", "dask"])
def test_ctrl_c_stops_the_cluster_too(name: str, tmp_path: Path) -> None:
    pytest.importorskip(PACKAGES[name])
    words = ["generate", "series-parallel", "--count", "100000", "--jobs", "2", "--backend", name]
    process = subprocess.Popen(
        [*MODULE, *words, "-o", str(tmp_path / "x.jsonl")],
        env=OF_CLUSTERS,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        while process.poll() is None and not any(f.stat().st_size for f in tmp_path.iterdir()):
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, err = process.communicate(timeout=START_S)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    assert process.returncode == 130, err
    assert "interrupted" in err.splitlines()[-1]
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["ray", "dask"])
def test_a_missing_package_is_named(
    name: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, PACKAGES[name], None)
    words = ["generate", "dream", "-o", tmp_path / "x.jsonl", "--backend", name]
    assert f"pip install '.[{name}]'" in refused(capsys, *words)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["ray", "dask"])
@pytest.mark.parametrize("fault", ["closed", "silent", "no such host"])
def test_an_address_without_a_cluster(
    name: str, fault: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backends, "ANSWER_S", 0.2)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        if fault == "silent":
            silent.listen()
        host = "nowhere.invalid" if fault == "no such host" else "127.0.0.1"
        address = f"{host}:{silent.getsockname()[1]}"
        words = ["generate", "dream", "-o", tmp_path / "x.jsonl", "--backend", name]
        line = refused(capsys, *words, "--address", address, code=1)
    assert f"{address}: no answer within 0.2 s; check the address" in line
    assert list(tmp_path.iterdir()) == []


def test_a_cluster_without_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "ALONE_S", 0.5)
    monkeypatch.setattr(backends, "LOOK_S", 0.1)
    found = iter([[], [], [ClusterMember(2, None)]])
    cluster = Connected(lambda call: Future(), lambda: next(found, []))
    assert Present(Backend("dask"), cluster).first() == [ClusterMember(2, None)]
    with pytest.raises(BackendError, match="--backend dask: the cluster has no worker processes"):
        Present(Backend("dask"), cluster).first()


def test_a_call_that_fails_with_the_last_process_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where one call kills all processes of Dask, one after another."""
    monkeypatch.setattr(calls, "LOOK_S", 0.01)
    members = iter([[ClusterMember(1, None)]])
    failing = Future[Any]()
    threading.Timer(0.2, failing.set_exception, [ZeroDivisionError("killed")]).start()
    cluster = Connected(lambda call: failing, lambda: next(members, []))
    present = Connected(cluster.submit, Present(Backend("dask"), cluster))
    results = results_of(abs, [1], present, jobs=None, items_per_call=1, in_order=True)
    with pytest.raises(ZeroDivisionError, match="killed"):
        next(results)


def test_the_memory_of_a_process_is_stated() -> None:
    on_dask, needs = Backend("dask"), r"; one needs [\d,]+ MB or more"
    two = [ClusterMember(4, 8e10), ClusterMember(2, 3e10)]
    assert re.fullmatch(f"6 processes with 15,000 MB each{needs}", resources(on_dask, two))
    assert re.fullmatch(f"1 process{needs}", resources(on_dask, [ClusterMember(1, None)]))
    short = r"; a worker has 50 MB, of which 80% can be used, and may be stopped for lack of memory"
    assert re.search(needs + short, resources(on_dask, [*two, ClusterMember(1, 5e7)]))


def test_a_backend_is_checked_in_python() -> None:
    with pytest.raises(UsageError, match="unknown backend 'slurm'; choose from local, ray, dask"):
        Backend("slurm")
    with pytest.raises(UsageError, match=r"^address: requires the backend ray or dask$"):
        compare([Recipe("dream", 1).graph(0)], ["single"], backend=Backend(address="here:1"))
