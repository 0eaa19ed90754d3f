"""Polling of a job's REST API, with answers and with faults."""

import json
import re
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from socket import socket
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Event, Thread
from urllib.parse import unquote

import pytest

from streamplace.engines.flink.chain import Chain
from streamplace.engines.flink.cpu_times import ThreadDumps
from streamplace.engines.flink.documents import (
    OPERATOR_METRICS,
    TASK,
    counters,
    operator_counters,
    queries,
)
from streamplace.engines.flink.fit import fit
from streamplace.engines.flink.plan import Vertex
from streamplace.engines.flink.poll import (
    StepClient,
    Watch,
    Watched,
    cpu_times_of,
    task_managers_of,
)
from streamplace.errors import BackendError, GraphError, UsageError
from streamplace.formats.profiling.counters import Counters
from streamplace.formats.profiling.rest import Server
from streamplace.problem.logical import LogicalGraph
from tests.support.flink_api import JOB_ID, SampleJob, serving
from tests.support.guards import hang_guard
from tests.support.http_server import Answer

TIMEOUT_S = 0.5
REPEATED_S = 1.5  # for faults after which requests are repeated until the time limit
SLOW_S = 30.0  # for others, so that a busy machine cannot reach it
OTHER_ANSWER = "unexpected answer from Flink|must be an object"


def watch(url: str, seconds: float = 0.6, timeout_s: float = TIMEOUT_S) -> Watched:
    return Watch(Server(url), JOB_ID, timeout_s, every_s=0.1).run(seconds)


def test_running_job_is_measured_and_located() -> None:
    with serving(SampleJob(speed=20)) as url:
        watched = watch(url, 1.5, timeout_s=5)
    assert watched.fault == ""
    assert len(watched.task_managers) == 5
    hosts = task_managers_of(watched)
    assert hosts["OP1"] == hosts["OP3"] == ["10.88.0.2:42743-d7955a"]
    assert hosts["OP2"] == ["10.88.0.5:38115-eff2c8"]
    found = {each.name: each for each in fit(watched.plan, watched.readings, 1000.0).operators}
    assert found["OP1"].instructions.value == pytest.approx(1907 / 2267 * 1e6, rel=0.02)
    assert found["OP1"].payload_bytes.value == pytest.approx(10_017, rel=0.02)
    assert found["sink"].instructions.how == "measured"  # with the writer that is chained to it
    assert found["Source: Sequence Source"].rate.value == pytest.approx(4245, rel=0.1)


def test_answer_that_arrives_byte_by_byte() -> None:
    """The answer never ends."""
    stopped = Event()

    class Dripping(BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                self.request.sendall(b"HTTP/1.0 200 OK\r\n\r\n")
                while not stopped.wait(0.05):
                    self.request.sendall(b" ")

    with ThreadingTCPServer(("127.0.0.1", 0), Dripping) as server:
        Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        with hang_guard(), pytest.raises(BackendError, match=r"no answer to .* within"):
            watch(f"http://127.0.0.1:{server.server_address[1]}")
        stopped.set()
        server.shutdown()


def never(path: str, query: str) -> None:
    """Send no answer."""


def after(count: int, faulty: Callable[[str, str], Answer | None]) -> Callable[..., Answer | None]:
    """Return correct answers `count` times, then those of `faulty`."""
    job, requests = SampleJob(speed=20), [0]

    def answer(path: str, query: str) -> Answer | None:
        requests[0] += 1
        return job(path, query) if requests[0] <= count else faulty(path, query)

    return answer


def finished(path: str, query: str) -> Answer:
    job = SampleJob()
    job.job["state"] = "FINISHED"
    return job(path, query)


BAD: dict[str, tuple[Callable[[str, str], Answer | None], str]] = {
    "silent": (never, "no answer to .* within"),
    "404": (lambda p, q: (404, b"{}"), "HTTP 404 Not Found"),
    "500": (lambda p, q: (500, b"{}"), "HTTP 500"),
    "no JSON": (lambda p, q: (200, b"<html>"), "an HTML page"),
    "no UTF-8": (lambda p, q: (200, b'{"a": "\xff"}'), "not UTF-8"),
    "empty": (lambda p, q: (200, b""), "is empty"),
    "a list": (lambda p, q: (200, b"[1]"), OTHER_ANSWER),
    "other JSON": (
        lambda p, q: (200, b'{"a": 1}'),
        "unexpected answer from Flink|must be an object",
    ),
    "nested": (lambda p, q: (200, b"[" * 100_000), "nested too deeply"),
}


@pytest.mark.parametrize("name", BAD)
def test_server_that_fails_immediately(name: str) -> None:
    faulty, message = BAD[name]
    raises = pytest.raises(BackendError, match=message)
    with serving(faulty) as url, hang_guard(), raises as caught:
        watch(url, timeout_s=REPEATED_S)
    assert "\n" not in str(caught.value)


@pytest.mark.long
@pytest.mark.parametrize("name", [*BAD, "finished"])
def test_server_that_fails_later(name: str) -> None:
    faulty, message = (finished, "the job is FINISHED") if name == "finished" else BAD[name]
    timeout_s = {"silent": TIMEOUT_S, "finished": SLOW_S}.get(name, REPEATED_S)
    with serving(after(30, faulty)) as url, hang_guard():
        watched = watch(url, seconds=3600, timeout_s=timeout_s)
    assert watched.readings
    assert re.search(message, watched.fault)


def test_requests_after_the_time_limit() -> None:
    """Several requests share the limit of a reading; the message never shows a negative limit."""
    with serving(never) as url:  # a server that answers could do so before the request is ended
        client = StepClient(Server(url), 0.1, 1.0)
        client._until = time.monotonic() - 1.0
        with pytest.raises(BackendError, match=r"no answer to /jobs within 0\.1 s, together with"):
            client.get("/jobs?a=b")


def test_temporary_faults_are_ignored() -> None:
    job, requests = SampleJob(speed=20), [0]

    def sometimes(path: str, query: str) -> Answer:
        requests[0] += 1
        return (503, b"") if requests[0] % 7 == 0 else job(path, query)

    with serving(sometimes) as url:
        watched = watch(url, 1.0, timeout_s=5)
    assert watched.fault == ""


def test_rejected_job_is_not_watched() -> None:
    def check(job: LogicalGraph) -> None:
        raise GraphError(f"of {len(job.graph.names)} operators")

    with serving(SampleJob()) as url, pytest.raises(GraphError, match="of 10 operators"):
        Watch(Server(url), JOB_ID, 5).run(60, check)


def test_interrupt_keeps_the_readings() -> None:
    job, requests = SampleJob(speed=20), [0]

    def answer(path: str, query: str) -> Answer:
        requests[0] += 1
        if requests[0] == 25:
            signal.raise_signal(signal.SIGINT)  # handled by the main thread, which watches
        return job(path, query)

    with serving(answer) as url:
        watched = watch(url, 30, timeout_s=5)
    assert watched.interrupted
    assert watched.readings


def dumped(
    url: str, command: str, seconds: float = 0.0, timeout_s: float = SLOW_S
) -> tuple[Watched, set[str]]:
    """Watch a job with thread dumps; return the reasons why CPU times are missing."""
    watcher = Watch(Server(url), JOB_ID, timeout_s, thread_dumps=ThreadDumps(command, timeout_s))
    with hang_guard():
        watched = watcher.run(seconds)
    return watched, {each.why for each in cpu_times_of(watched).values()}


DUMP = '"main" #1 [7] prio=5 os_prio=0 cpu=1.00ms elapsed=2.00s tid=0x1 nid=7 runnable'


def test_dumps_of_every_task_manager_of_the_job() -> None:
    with serving(SampleJob()) as url:
        watched, reasons = dumped(url, f"echo '{DUMP}'")
    hosts = {host for each in watched.hosts.values() for host in each}
    assert [dump.keys() for dump in watched.dumps] == [hosts, hosts]
    assert len(reasons) == 1
    assert "increase --seconds" in reasons.pop()


def test_a_job_that_waits_for_resources_has_no_subtasks() -> None:
    job = SampleJob()

    def answer(path: str, query: str) -> Answer:
        is_vertex = path.rpartition("/")[0].endswith("/vertices")
        return (200, b'{"subtasks": []}') if is_vertex else job(path, query)

    with serving(answer) as url:
        _, reasons = dumped(url, f"echo '{DUMP}'", 1.0)
    assert reasons == {"it did not run when the measurement began"}


def test_dumps_that_fail_first_end_everything(tmp_path: Path) -> None:
    command = f"cat '{tmp_path}/{{}}'"
    with (
        serving(SampleJob()) as url,
        pytest.raises(UsageError, match=r"thread dumps: cat .* failed"),
    ):
        dumped(url, command, 60.0)


def test_dumps_that_fail_at_the_end_keep_the_readings(tmp_path: Path) -> None:
    """The first reading of the job removes the dumps."""
    job, dump = SampleJob(), tmp_path / "dump"
    dump.write_text(DUMP)

    def answer(path: str, query: str) -> Answer:
        if path == f"/jobs/{JOB_ID}":
            dump.unlink(missing_ok=True)
        return job(path, query)

    with serving(answer) as url:
        watched, reasons = dumped(url, f"cat '{dump}'", 1.0)
    assert watched.readings
    assert "failed with 1: cat: " in watched.fault
    assert reasons == {"there are fewer than two thread dumps; increase --seconds"}


def test_queries_are_short_enough_for_flink() -> None:
    metrics = [f"{i}.{'窗口' * 30}.numRecordsIn" for i in range(100)]
    found = list(queries(metrics))
    assert max(map(len, found)) <= 3000
    assert [name for query in found for name in unquote(query).split(",")] == metrics


def test_no_server() -> None:
    with socket() as bound:  # its port is taken, and nothing listens there
        bound.bind(("127.0.0.1", 0))
        with pytest.raises(BackendError, match="refused"):
            watch(f"http://127.0.0.1:{bound.getsockname()[1]}")


@pytest.mark.parametrize(
    "url", ["", "localhost:8081", "file:///etc/passwd", "http://", "http://a:b", "http://a b"]
)
def test_invalid_addresses(url: str) -> None:
    with pytest.raises(UsageError, match="is not an address"):
        Server(url)


def test_job_id_is_quoted_in_the_path() -> None:
    paths = []

    def answer(path: str, query: str) -> Answer:
        paths.append(path)
        return 404, b""

    with serving(answer) as url, pytest.raises(BackendError, match="404"):
        Watch(Server(url), "../a b?c", 1).run(0)
    assert paths == ["/jobs/..%2Fa%20b%3Fc/plan", "/jobs/overview"]


@pytest.mark.parametrize("now", ["-1e400", "1e400", "NaN", "-1", "1e19", "null", "9" * 4000])
def test_invalid_clocks(now: str) -> None:
    """The difference of two infinite times is not a number."""
    job = SampleJob(speed=20)

    def answer(path: str, query: str) -> Answer | None:
        code, body = job(path, query)
        return code, re.sub(rb'"now": \d+', f'"now": {now}'.encode(), body)

    with serving(answer) as url:
        watched = watch(url, 0.2, timeout_s=SLOW_S)
    assert "unexpected answer from Flink" in watched.fault
    assert watched.readings == []


@pytest.mark.parametrize("value", [-1.0, 1e19, 1e308, float("inf"), float("nan")])
def test_counters_beyond_64_bit_integers(value: float) -> None:
    metrics = {"a": value, **{f"{key}-complete": True for key in TASK.values()}}
    assert counters({**metrics, **dict.fromkeys(TASK.values(), value)}) == Counters()
    vertex = Vertex("v", ("a", "b"), 2, Chain(("a", "b"), (None, 0)))
    found = operator_counters(
        vertex, {"a": "a"}, {f"{i}.a.{m}": value for i in (0, 1) for m in OPERATOR_METRICS.values()}
    )
    assert found == {"a": Counters()}


def test_incomplete_counters_are_missing_not_0() -> None:
    metrics = json.loads(
        '{"read-records": 0, "read-records-complete": false, "write-records-complete": true,'
        ' "read-bytes-complete": true, "write-records": 5}'
    )
    assert counters(metrics).records_out is None
    metrics["read-records-complete"] = True
    assert counters(metrics).records_out is None
    metrics["write-bytes-complete"] = True
    assert counters(metrics).records_out == 5
    assert counters(metrics).bytes_in is None
    assert counters({**metrics, "accumulated-busy-time": float("nan")}).busy_ms is None
