"""Backends for work on many items: local processes, a Ray cluster or a Dask cluster."""

import logging
import math
import os
import re
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from typing import Any

from streamplace.errors import BackendError, Fault, UsageError
from streamplace.execution.calls import LOOK_S, ClusterMember, Connected, in_mb, peak_bytes
from streamplace.execution.progress import note
from streamplace.util.extras import missing_message
from streamplace.util.suggest import valid_choices

BACKENDS = ("local", "ray", "dask")
ANSWER_S = 5.0  # seconds to wait for a cluster at an address
ALONE_S = 120.0  # to wait for a worker process where there is none
USABLE = 0.8  # of a worker's memory; Dask gives no more calls to one that uses more
OBJECT_STORE_BYTES = 128 * 2**20  # of a local Ray cluster; what does not fit is written to disk
SHIP = {
    "ray": (
        "install it there, or call ray.init(runtime_env={{'working_dir': 'FOLDER'}}) before "
        "streamplace, or run the command by `ray job submit --working-dir FOLDER`, where FOLDER "
        "has it"
    ),
    "dask": (
        "install it there, start workers with its folder in PYTHONPATH, or send it with "
        "distributed.Client(ADDRESS).upload_file('{0}.py')"
    ),
}
"""Backend -> how its workers get a module."""
# The words of Python, and those of `plugins`.
_NO_MODULE = re.compile(r"[Nn]o module (?:named )?'([\w.]+)'")
_ADDRESS = re.compile(r"(?:tcp://)?([^\s/:]+):(\d{1,5})")


@dataclass(frozen=True)
class Backend:
    """The backend that does the work; results do not depend on it.

    Parameters
    ----------
    name
        ``local`` (processes of this machine), ``ray`` or ``dask``.
    address
        HOST:PORT of a cluster's head or scheduler; None starts a cluster on this machine, and
        stops it at the end.

    Raises
    ------
    UsageError
        If there is no such backend, or the address is invalid.
    """

    name: str = "local"
    address: str | None = None

    def __str__(self) -> str:
        return f"--backend {self.name}{f' at {self.address}' if self.address else ''}"

    def __post_init__(self) -> None:
        if self.name not in BACKENDS:
            raise UsageError(f"unknown backend {self.name!r}{valid_choices(self.name, BACKENDS)}")
        if self.address is None:
            return
        if self.name == "local":
            raise UsageError(Fault("requires the backend ray or dask", option="address"))
        match = _ADDRESS.fullmatch(self.address)
        if match is None or not 0 < int(match[2]) < 2**16:
            fault = f"must be HOST:PORT (got {self.address!r:.80})"
            raise UsageError(Fault(fault, option="address"))


LOCAL = Backend()


@contextmanager
def cluster_of_jobs(backend: Backend, jobs: int) -> Iterator[Connected]:
    """Connect to a cluster, or start one with `jobs` processes and stop it after the block.

    Raises
    ------
    UsageError
        If the backend's package is not installed.
    BackendError
        If no cluster answers at the address, it fails, or it has no processes for `ALONE_S`.
    """
    if backend.address is not None:
        _check_answer(backend)
    with (_ray if backend.name == "ray" else _dask)(backend, jobs) as joined:
        present = Present(backend, joined)
        note(f"{backend}: {resources(backend, present.first())}")
        yield replace(joined, members=present)


class Present:
    """What a cluster consists of now; it is an error if that is nothing for `ALONE_S`."""

    def __init__(self, backend: Backend, cluster: Connected) -> None:
        self.backend, self.cluster = backend, cluster
        self._alone_s: float | None = None  # since when there is none

    def __call__(self) -> Sequence[ClusterMember]:
        """Return the members; none for a while does not mean that no call has ended."""
        members, now_s = self.cluster.members(), time.monotonic()
        if members:
            self._alone_s = None
        elif self._alone_s is None:
            self._alone_s = now_s
        elif now_s - self._alone_s > ALONE_S:
            raise _failed(self.backend, "the cluster has no worker processes; add some to it")
        return members

    def first(self) -> Sequence[ClusterMember]:
        """Wait for a member, and return all."""
        while not (members := self()):
            time.sleep(LOOK_S)
        return members


def resources(backend: Backend, members: Sequence[ClusterMember]) -> str:
    """Return the processes and the memory of a cluster, and what a process needs, as text.

    What a process needs is taken from the peak of this one, which has loaded the same modules. It
    may hold more data than the others will, so too little memory is a warning, not an error.
    """
    count, needed = sum(one.processes for one in members), peak_bytes()
    least = min(one.memory_bytes or math.inf for one in members)
    warning = ""
    if least * USABLE < needed:
        limit = f"{in_mb(least)}, of which {USABLE:.0%} can be used"
        warning = f"; a worker has {limit}, and may be stopped for lack of memory"
    each = min((one.memory_bytes or math.inf) / one.processes for one in members)
    has = "" if each == math.inf else f" with {in_mb(each)} each"
    return f"{count} process{'es' * (count > 1)}{has}; one needs {in_mb(needed)} or more{warning}"


@contextmanager
def _ray(backend: Backend, jobs: int) -> Iterator[Connected]:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    with _explain_imports("ray", "Ray"):
        import ray  # noqa: PLC0415
        import ray._private.worker as of_ray  # noqa: PLC0415 - an extra, and heavy
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    own = {"num_cpus": jobs, "object_store_memory": OBJECT_STORE_BYTES, "include_dashboard": False}
    starts, printing = not ray.is_initialized(), of_ray.print_to_stdstream
    try:
        if starts:
            of_ray.print_to_stdstream = _ignored  # it prints lost machines on stdout
            with _as_backend_error(backend), _sigterm_kept():
                if backend.address is None:
                    ray.init("local", **own, **quiet)
                else:
                    ray.init(backend.address.removeprefix("tcp://"), **quiet)
        called = ray.remote(_called).options(max_retries=0, scheduling_strategy="SPREAD")
        yield Connected(
            lambda call: called.remote(call).future(),
            lambda: [
                ClusterMember(int(has["CPU"]), has.get("memory"))
                for has in (node["Resources"] for node in ray.nodes() if node["Alive"])
                if has.get("CPU", 0) >= 1
            ],
            (
                ray.exceptions.NodeDiedError,
                ray.exceptions.ObjectLostError,  # with the machine that held a result
                ray.exceptions.OutOfMemoryError,
                ray.exceptions.WorkerCrashedError,
            ),
        )
    except ray.exceptions.RayError as error:
        cause = getattr(error, "cause", error)  # of an error that a call raised
        if isinstance(cause, ray.exceptions.RayError):
            raise _failed(backend, cause) from error
        raise cause from error
    finally:
        if starts:
            ray.shutdown()
            of_ray.print_to_stdstream = printing


def _called(call: Callable[[], Any]) -> Any:
    return call()


def _ignored(*_: Any, **__: Any) -> None:
    """Print nothing."""


@contextmanager
def _dask(backend: Backend, jobs: int) -> Iterator[Connected]:
    with _explain_imports("dask", "Dask"):
        import distributed  # noqa: PLC0415 - an extra, and heavy
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    own = {"n_workers": jobs, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    try:
        with _as_backend_error(backend), interrupts_ignored():  # worker processes inherit this
            client = (
                distributed.Client(**own, host="127.0.0.1", silence_logs=logging.CRITICAL)
                if backend.address is None
                else distributed.Client(backend.address, timeout=ANSWER_S)
            )

        def submit(call: Callable[[], Any]) -> Future[Any]:
            ended: Future[Any] = Future()
            # Otherwise Dask (distributed 2026.8.0) runs equal calls once and shares the result.
            client.submit(call, pure=False).add_done_callback(partial(_settle, ended))
            return ended

        with client:
            yield Connected(
                submit,
                lambda: [
                    ClusterMember(worker["nthreads"], worker["memory_limit"])
                    for worker in client.scheduler_info(n_workers=-1)["workers"].values()
                ],
            )
    except distributed.client.FutureCancelledError as error:
        raise _failed(backend, "the scheduler was lost") from error
    except (distributed.comm.CommClosedError, distributed.scheduler.KilledWorker) as error:
        raise _failed(backend, error) from error


def _settle(ended: Future[Any], task: Any) -> None:
    """Pass on the result of a call; Dask's own executor loses errors while it fetches results."""
    try:
        ended.set_result(task.result())
    except BaseException as error:
        ended.set_exception(error)


@contextmanager
def shipping(backend: Backend) -> Iterator[None]:
    """Raise a BackendError that says how to ship a module that workers lack and this machine has.

    Users' classes are sent to workers by the name of their module, and not with its code.
    """
    try:
        yield
    except Exception as error:
        if (module := _module_not_found(error)) is None:
            raise
        raise _failed(
            backend, f"its workers have no module {module!r}; {SHIP[backend.name].format(module)}"
        ) from error


def _module_not_found(error: BaseException | None) -> str | None:
    """Return the module that an error of a worker says is missing there, if it is not here."""
    while error is not None:
        for name in _NO_MODULE.findall(str(error)):
            if find_spec(name.partition(".")[0]) is not None:  # which imports nothing
                return str(name)
        error = error.__cause__ or error.__context__
    return None


@contextmanager
def _explain_imports(extra: str, name: str) -> Iterator[None]:
    """Raise a UsageError that says how to install what the block cannot import."""
    try:
        yield
    except ImportError:
        raise UsageError(missing_message(f"--backend {extra}", name, extra)) from None


@contextmanager
def _as_backend_error(backend: Backend) -> Iterator[None]:
    """Turn any error while starting or joining a cluster into a one-line BackendError."""
    try:
        yield
    except Exception as error:
        raise _failed(backend, error) from error


def _failed(backend: Backend, error: object) -> BackendError:
    first = (str(error).strip() or type(error).__name__).splitlines()[0]
    return BackendError(f"{backend}: {first:.300}")


def _check_answer(backend: Backend) -> None:
    """Refuse an address where no cluster answers; the clients of Ray and Dask wait for minutes.

    Ray's head and Dask's scheduler both send data as soon as a client connects.
    """
    match = _ADDRESS.fullmatch(backend.address or "")
    assert match is not None, "Backend checks its address"
    try:
        with socket.create_connection((match[1], int(match[2])), ANSWER_S) as connection:
            connection.settimeout(ANSWER_S)
            answer = connection.recv(1)
    except OSError:
        answer = b""
    if not answer:
        advice = "check the address and that the cluster is running"
        raise _failed(backend, f"no answer within {ANSWER_S:g} s; {advice}")


@contextmanager
def _sigterm_kept() -> Iterator[None]:
    """Restore the handler of SIGTERM, which Ray replaces."""
    handler = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        with suppress(ValueError):  # outside the main thread, where Ray does not replace it either
            signal.signal(signal.SIGTERM, handler)


@contextmanager
def interrupts_ignored() -> Iterator[None]:
    """Ignore Ctrl-C, which a terminal sends to all processes: only the main one handles it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
