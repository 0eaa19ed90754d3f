"""Kernels that are compiled, saved and found again, by this process and by others."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from threading import Barrier, BrokenBarrierError
from typing import Any

import numpy as np
import pytest

from streamplace.sim.jit import bare, kernel
from streamplace.sim.kernels import before_compiling, bundle
from streamplace.sim.kernels.cache import RECORDED, _folder, key_of, read_saved
from streamplace.sim.kernels.numba_private import for_bundle
from streamplace.sim.kernels.signatures import read_signatures

CODE = """
import sys
from numba.core import event
compiled = []
class Listener(event.Listener):
    def on_start(self, started): compiled.append(started.data["dispatcher"].py_func.__qualname__)
    def on_end(self, ended): pass
event.register("numba:compile", Listener())
from streamplace.cli.main import main
for words in sys.argv[1:]:
    assert main(words.split()) == 0, words
assert not compiled, compiled
"""
GRAPH = "dataset:real/yahoo-advertising.json"
COMMANDS = [
    f"place {GRAPH} -o a.json",
    f"place {GRAPH} -o b.json --objective makespan",
    *(f"place {GRAPH} --model {model}" for model in ("path-average", "engine")),
    f"place {GRAPH} --max-latency p99=1s",
    *(f"place {GRAPH} --placer {name}" for name in ("exact", "fuser", "metis-oracle", "policy")),
    f"place {GRAPH} --placer exact --objective makespan",
    "compare dataset:real --placers metis,greedy,search:evaluations=100",
    "compare dataset:real --placers heft,peft,cpop --objective makespan",
    "place dataset:networks/inception-v3.json --objective makespan",
    *(f"simulate {GRAPH} a.json --model {model}" for model in ("bottleneck", "engine")),
    f"simulate {GRAPH} b.json --objective makespan",
    "explain a.json",
    "explain b.json",
    f"plan {GRAPH}",
    f"size {GRAPH} --devices 3x2500x4 --time-limit 0.5",
    "report a.json -o report.html",
    "diff a.json b.json --objective makespan",
]
BELOW = """
import numpy as np
from streamplace.sim.kernels import bundle
bundle.PATH = bundle.PATH.with_name("none.zip")
from streamplace.sim.columns import first_misplaced
numbers = np.arange(3, dtype=np.int32)
numbers.setflags(write=False)
print(first_misplaced(numbers, numbers, 4))
"""

SORTING = """
import numpy as np
from streamplace.sim.jit import kernel

@kernel
def largest(numbers):
    numbers.sort()
    return numbers[-1]

@kernel
def order(numbers):
    return np.argsort(numbers)
"""
CALL = """
import sys
import numpy as np
import sorting
for name in sys.argv[1:]:
    print(getattr(sorting, name)(np.array([3.0, 1.0, 2.0])))
"""

needs_file = pytest.mark.skipif(
    not bundle.PATH.exists(), reason="no file of kernels: run python -m streamplace.sim.kernels"
)


@bare
def _twice(x: float) -> float:
    return 2 * x


def new_kernel() -> Any:
    """Return a kernel that nothing has compiled in this process."""

    @kernel
    def sum_of_twice(numbers: Any) -> float:
        total = 0.0
        for i in range(numbers.shape[0]):
            total += _twice(numbers[i])
        return total

    return sum_of_twice


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder, in which kernels are saved."""
    monkeypatch.setattr("streamplace.sim.kernels.cache._folder", lambda codegen: tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of a saved kernel, for an array of numbers; its name is its key."""
    folder = tmp_path_factory.mktemp("saved")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("streamplace.sim.kernels.cache._folder", lambda codegen: folder)
        first = new_kernel()
        assert first(np.ones(2)) == 4.0
    return folder / key_of(first, tuple(first.signatures[0]))


def test_a_saved_kernel_is_not_compiled_again(folder: Path) -> None:
    missing: list[None] = []
    before_compiling.append(lambda: missing.append(None))
    try:
        assert new_kernel()(np.array([1.0, 2.0])) == 6.0
        assert new_kernel()(np.array([1.0, 3.0])) == 8.0
        assert len(missing) == 1
        (saved,) = folder.iterdir()
        saved.write_bytes(saved.read_bytes()[:-20])
        assert new_kernel()(np.array([1.0, 4.0])) == 10.0
        assert len(missing) == 2
        whole = bytearray(saved.read_bytes())
        whole[len(whole) // 2] ^= 1  # in the code, which loads and does something else
        saved.write_bytes(whole)
        assert new_kernel()(np.array([1.0, 5.0])) == 12.0
        assert len(missing) == 3
    finally:
        before_compiling.pop()


def total_of_another_package(root: Path, factor: float) -> Any:
    """Write and load a package whose kernel calls a function of another of its modules."""
    package = root / "outside"
    package.mkdir(exist_ok=True)
    (package / "__init__.py").touch()
    (package / "parts.py").write_text(
        "from streamplace.sim.jit import bare\n"
        f"FACTOR = {factor}\n"
        "@bare\n"
        "def scaled(x):\n"
        "    return FACTOR * x\n"
    )
    (package / "sums.py").write_text(
        "from outside import parts\n"
        "from streamplace.sim.jit import kernel\n"
        "@kernel\n"
        "def total(numbers):\n"
        "    return parts.scaled(numbers[0]) + parts.scaled(numbers[1])\n"
    )
    for name in [each for each in sys.modules if each.partition(".")[0] == "outside"]:
        del sys.modules[name]
    return import_module("outside.sums").total


def test_a_kernel_of_another_package_is_compiled_saved_and_recorded(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, record = tmp_path_factory.mktemp("root"), tmp_path_factory.mktemp("record")
    monkeypatch.syspath_prepend(root)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # files change within a second
    monkeypatch.setenv(RECORDED, str(record))
    missing: list[None] = []
    monkeypatch.setattr(
        "streamplace.sim.kernels.cache.before_compiling", [lambda: missing.append(None)]
    )
    for factor, expected, compiled in ((2.0, 6.0, 1), (2.0, 6.0, 1), (3.0, 9.0, 2)):
        assert total_of_another_package(root, factor)(np.array([1.0, 2.0])) == expected
        assert len(missing) == compiled
    assert len([*folder.iterdir()]) == 2
    assert {name for path in record.iterdir() for name in read_signatures(path)} == {
        "outside.sums.total"
    }


@pytest.mark.usefixtures("folder")
def test_a_kernel_of_the_file_cannot_become_part_of_others(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has no code to link, so a kernel that calls it compiles it anew."""
    data = for_bundle(read_saved(saved) or b"")
    assert len(data) < saved.stat().st_size
    monkeypatch.setattr(bundle, "stored", {saved.name: data}.get)
    second = new_kernel()
    assert second(np.ones(3)) == 6.0
    assert not second.overloads

    @kernel
    def outer(numbers: Any) -> float:
        return float(second(numbers) + 1.0)

    assert outer(np.ones(4)) == 9.0
    assert second(np.ones(5)) == 10.0


@pytest.mark.usefixtures("folder")
def test_threads_load_a_kernel_of_the_file_one_after_the_other(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = for_bundle(read_saved(saved) or b"")
    second, both = new_kernel(), Barrier(2)
    add = second.add_overload

    def meet() -> None:
        with suppress(BrokenBarrierError):  # the other thread waits for this one
            both.wait(0.5)

    def stored(_key: str) -> bytes:
        meet()
        return data

    def added(found: Any) -> None:
        add(found)
        meet()

    monkeypatch.setattr(bundle, "stored", stored)
    second.add_overload = added
    with ThreadPoolExecutor(2) as threads:
        assert [*threads.map(second, [np.ones(3), np.ones(4)])] == [6.0, 8.0]


def test_settings_of_numba_and_homeless_users_have_no_common_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    codegen = new_kernel().targetctx.codegen()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    usual = _folder.__wrapped__(codegen)
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    assert _folder.__wrapped__(codegen) not in {usual, None}
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bundle, "PATH", Path("/proc/none/compiled.zip"))
    monkeypatch.setattr(
        "streamplace.sim.kernels.cache.user_cache_dir", lambda _: "~/.cache/streamplace"
    )
    assert _folder.__wrapped__(codegen) is None
    assert not (tmp_path / "~").exists()


@needs_file
def test_commands_compile_nothing_wherever_they_run(tmp_path: Path) -> None:
    """No folder is writable, there is no home, and Python writes no bytecode.

    If this fails after a change, a kernel is new, or has arguments of new types: set
    STREAMPLACE_RECORD_KERNELS to a folder, run the command, and then
    ``python -m streamplace.sim.kernels.recorded FOLDER`` and ``make kernels``.
    """
    environment = {
        "PATH": os.environ["PATH"],
        "NUMBA_CACHE_DIR": "/proc/none",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-c", CODE, *COMMANDS]
    run = subprocess.run(
        command, env=environment, cwd=tmp_path, check=False, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr


def test_without_the_file_or_a_folder_kernels_are_compiled(tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": "/proc/none"}
    run = subprocess.run(
        [sys.executable, "-c", BELOW], env=environment, check=True, capture_output=True, text=True
    )
    assert run.stdout == "0\n"


def test_kernels_that_two_processes_compiled_are_not_mixed_up(tmp_path: Path) -> None:
    """Numba has a function of the same name for both, and numbers them alike in each process."""
    (tmp_path / "sorting.py").write_text(SORTING)
    variables = {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    variables["NUMBA_CACHE_DIR"] = str(tmp_path / "cache")

    def printed(*names: str) -> list[str]:
        command = [sys.executable, "-c", CALL, *names]
        run = subprocess.run(
            command, env=os.environ | variables, capture_output=True, text=True, check=True
        )
        return run.stdout.splitlines()

    assert printed("largest") == ["3.0"]
    assert printed("order") == ["[1 2 0]"]
    assert printed("largest", "order") == ["3.0", "[1 2 0]"]
