"""Profiles from Prometheus: recorded answers, and a real server where one is installed."""

import json
import shutil
import subprocess
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from streamplace.engines.flink.fit import fit_growth
from streamplace.engines.flink.growth import Growth
from streamplace.engines.flink.plan import read_running
from streamplace.engines.flink.poll import Watched, task_managers_of
from streamplace.engines.flink.prometheus import Prometheus, labels_of
from streamplace.errors import BackendError, UsageError
from streamplace.formats.profiling.profile import Profile
from streamplace.formats.profiling.rest import Server
from tests.support.flink_api import serving
from tests.support.http_server import Answer, http_server
from tests.support.processes import free_ports
from tests.support.prometheus import JOB, PLAN, RECORDED, Change, recorded, unchanged

MIPS = 1000.0
READ = read_running(json.dumps(PLAN), "plan")
TRUE = {
    ("Source: events", "parse"): (1.0, None),
    ("parse", "filter"): (1.0, 1217),
    ("parse", "enrich"): (1.0, 1217),
    ("filter", "score"): (0.5, None),
    ("score", "join"): (1.0, 20_000),
    ("enrich", "split"): (1.0, None),
    ("split", "join"): (2.0, 2_017),
    ("join", "summarise"): (0.4, None),
    ("summarise", "render"): (0.5, None),
    ("render", "archive: Writer"): (3.0, None),
}
"""Selectivities of examples/flink/SampleJob.java, and the bytes of its tuples."""


def read(url: str, seconds: float = 60.0) -> tuple[Watched, list[str]]:
    source = Prometheus(Server(url), 10.0)
    return source.watched(source.job(None), READ, seconds)


def fitted(watched: Watched) -> Profile:
    return fit_growth(Growth(READ, watched.readings), MIPS)


def read_after(change: Change) -> tuple[Watched, list[str]]:
    with serving(recorded(change)) as url:
        return read(url)


def check(found: Profile, rel: float) -> None:
    """Compare the numbers of a profile with the true ones."""
    assert len(found.streams) == len(TRUE)
    for each in found.streams:
        selectivity, size = TRUE[each.source, each.target]
        assert each.selectivity.value == pytest.approx(selectivity, rel=rel)
        if size is not None:
            assert each.payload_bytes.value == pytest.approx(size, rel=rel)
        else:
            assert each.payload_bytes.how == "chained"


def grown(metric: str, task: str) -> float:
    """Return the growth of a recorded metric of a task from the first to the last samples."""
    rows = RECORDED["answers"][f"flink_taskmanager_job_task_{metric}"]["data"]["result"]
    ends = [row["values"] for row in rows if row["metric"]["task_id"] == task]
    return sum(float(each[-1][1]) - float(each[0][1]) for each in ends)


def test_recorded_answers_of_a_real_prometheus() -> None:
    watched, notes = read_after(unchanged)
    found = fitted(watched)
    assert notes == []
    assert found.intervals >= 25
    assert found.source_rate.value == pytest.approx(40, rel=0.01)
    check(found, 0.02)
    cost = {each.name: each.instructions for each in found.operators}
    join = READ.vertex_of["join"].id
    seconds_each = grown("accumulateBusyTimeMs", join) / 1e3 / grown("numRecordsIn", join)
    assert cost["join"].value == pytest.approx(seconds_each * MIPS * 1e6, rel=0.1)
    assert cost["join"].error is not None
    assert cost["render"].how == "chained"
    assert {*map(tuple, task_managers_of(watched).values())} == {("tm1", "tm0")}
    assert watched.task_managers == {"tm0": 1, "tm1": 1}
    assert all(last[0][1].records_in is not None for last in watched.last.values())


def test_times_of_the_last_second_count_where_those_since_the_start_are_missing() -> None:
    watched, notes = read_after(lambda metric, rows: [] if "accumulate" in metric else rows)
    both = [fitted(each).operators for each in (watched, read_after(unchanged)[0])]
    assert len(notes) == 3
    assert "has no accumulateBusyTimeMs, so busyTimeMsPerSecond counts" in notes[0]
    for sampled, accumulated in zip(*both, strict=True):
        if accumulated.instructions.how == "measured":
            expected = accumulated.instructions.value
            assert sampled.instructions.value == pytest.approx(expected, rel=0.2)


def test_a_missing_instance_is_missing_not_0() -> None:
    def one_less(metric: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [row for row in rows if (row["metric"]["subtask_index"], metric[-2:]) != ("1", "In")]

    found = fitted(read_after(one_less)[0])
    rate = {each.name: each.rate for each in found.operators}
    assert rate["join"].why == "the server did not report it"
    assert rate["Source: events"].value == pytest.approx(40, rel=0.01)


def test_a_restart_counts_from_its_last_attempt() -> None:
    """Series of an earlier attempt end, and counters begin again."""

    def twice(metric: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        found = []
        for row in rows:
            before = {**row["metric"], "task_attempt_num": "7"}
            found.append({"metric": before, "values": [[at, "9e9"] for at, _ in row["values"][:9]]})
            found.append({**row, "values": row["values"][9:]})
        return found

    found = fitted(read_after(twice)[0])
    assert 18 <= found.intervals <= 20
    check(found, 0.03)

    def falls(metric: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for row in rows:
            row["values"][:9] = [[at, "9e9"] for at, _ in row["values"][:9]]
        return rows

    assert fitted(read_after(falls)[0]).intervals <= 20


def test_samples_that_a_pushgateway_goes_on_with_do_not_count() -> None:
    """They are those of an earlier attempt, on a TaskManager that was lost."""

    def left_behind(metric: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        now = [{**row, "metric": {**row["metric"], "task_attempt_num": "10"}} for row in rows]
        old = [
            {
                "metric": {**row["metric"], "task_attempt_num": "9"},
                "values": [[at, "7"] for at, _ in row["values"]],
            }
            for row in rows
        ]
        return [*old, *now]

    check(fitted(read_after(left_behind)[0]), 0.02)


def test_instances_that_a_rescaling_took_away_do_not_count() -> None:
    """Their series end before those of the instances that run begin."""

    def fewer(metric: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        gone = [
            {"metric": {**row["metric"], "subtask_index": "9"}, "values": row["values"][:9]}
            for row in rows
        ]
        return [*gone, *({**row, "values": row["values"][9:]} for row in rows)]

    found = fitted(read_after(fewer)[0])
    assert 18 <= found.intervals <= 20
    check(found, 0.03)


def test_targets_that_are_scraped_twice_count_once() -> None:
    watched, _ = read_after(lambda metric, rows: [*rows, *rows])
    assert fitted(watched).source_rate.value == pytest.approx(40, rel=0.01)


def test_names_as_reporters_write_them() -> None:
    assert labels_of("Sink: a-b (x)") == ("Sink: a-b (x)", "Sink:_a_b__x_")
    assert {len(label) for label in labels_of("é" * 99)} == {80}


def jobs(*ids: str) -> Callable[[str, str], Answer]:
    rows = [{"metric": {"job_id": each, "job_name": "words"}, "value": [1, "8"]} for each in ids]
    value = {"status": "success", "data": {"resultType": "vector", "result": rows}}
    return lambda path, query: (200, json.dumps(value).encode())


def test_the_only_job() -> None:
    with serving(jobs("a")) as url:
        assert Prometheus(Server(url), 5.0).job(None) == "a"
        assert Prometheus(Server(url), 5.0).job("b") == "b"
    several = r"several jobs have metrics: a \(words\), b \(words\); set --job ID$"
    with serving(jobs("b", "a")) as url, pytest.raises(UsageError, match=several):
        Prometheus(Server(url), 5.0).job(None)
    none = r"no job has metrics \(flink_taskmanager_job_task_…\); set --job ID$"
    with serving(jobs()) as url, pytest.raises(UsageError, match=none):
        Prometheus(Server(url), 5.0).job(None)


def test_jobs_and_plans_without_metrics() -> None:
    with serving(recorded()) as url:
        source = Prometheus(Server(url), 5.0)
        message = rf"no metrics of job 'x' in the last 60 s; it has those of '{JOB} \(sample\)'$"
        with pytest.raises(UsageError, match=message):
            source.watched("x", READ, 60.0)
        other = read_running('{"nodes": [{"id": "v", "description": "a"}]}', "plan")
        with pytest.raises(UsageError, match=f"the plan has none of the vertices of job '{JOB}'$"):
            source.watched(JOB, other, 60.0)


@pytest.mark.parametrize("label", ["task_id", "subtask_index"])
def test_a_label_that_relabeling_dropped_is_named(label: str) -> None:
    def dropped(metric: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [
            {**row, "metric": {k: v for k, v in row["metric"].items() if k != label}}
            for row in rows
        ]

    with pytest.raises(UsageError, match=rf"job '{JOB}' have no label {label}, which Flink's"):
        read_after(dropped)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((404, b"404 page not found"), "HTTP 404 .*; is this the address of a Prometheus"),
        ((400, b'{"error":\n"parse"}'), r'HTTP 400 .*: {"error": "parse"}$'),
        ((200, b"<html>"), "an HTML page"),
        ((200, b'{"data": {}}'), "data"),
        ((200, b'{"data": {"result": [{"metric": {}, "values": [[1]]}]}}'), "unexpected answer"),
        ((200, b'{"data": {"result": [{"metric": {}, "values": [[2, "1"], [1, "1"]]}]}}'), "grow"),
        ((200, b'{"data": {"result": [{"metric": {}, "values": [[1, "x"]]}]}}'), "from Prometheus"),
    ],
)
def test_servers_that_answer_otherwise(answer: Answer, message: str) -> None:
    with serving(lambda path, query: answer) as url, pytest.raises(BackendError, match=message):
        Prometheus(Server(url, "a Prometheus"), 5.0).watched(JOB, READ, 60.0)


def metrics_text(second: float) -> str:
    """Return the recorded series as Flink serves them, some seconds later."""
    lines = []
    for name, answer in RECORDED["answers"].items():
        for series in answer["data"]["result"] if name != "jobs" else ():
            values = [float(value) for _, value in series["values"]]
            own = {
                k: v
                for k, v in series["metric"].items()
                if k not in ("__name__", "job", "instance")
            }
            labels = ",".join(f'{key}="{value}"' for key, value in own.items())
            grown = values[0] + (values[-1] - values[0]) / 58.0 * second
            lines.append(f"{name}{{{labels},}} {grown}")
    return "\n".join(lines) + "\n"


@pytest.mark.long
@pytest.mark.skipif(shutil.which("prometheus") is None, reason="no prometheus here")
def test_a_real_prometheus(tmp_path: Path) -> None:
    began = time.monotonic()

    def scraped(request: BaseHTTPRequestHandler) -> Answer:
        return 200, metrics_text((time.monotonic() - began) * 10).encode()

    (port,) = free_ports(1)
    with http_server(scraped) as host:
        (tmp_path / "prometheus.yml").write_text(
            "scrape_configs: [{job_name: flink, scrape_interval: 1s, scrape_timeout: 1s, "
            f"static_configs: [{{targets: ['{host}']}}]}}]\n"
        )
        words = [f"--config.file={tmp_path}/prometheus.yml", f"--storage.tsdb.path={tmp_path}/data"]
        words += [f"--web.listen-address=127.0.0.1:{port}"]
        with subprocess.Popen(["prometheus", *words], stderr=subprocess.DEVNULL) as server:
            try:
                found = None
                until = time.monotonic() + 60
                while (found is None or found.intervals < 6) and time.monotonic() < until:
                    time.sleep(1.0)
                    try:
                        found = fitted(read(f"http://127.0.0.1:{port}")[0])
                    except (BackendError, UsageError):  # it starts
                        continue
            finally:
                server.terminate()
    assert found is not None
    assert found.intervals >= 6
    check(found, 0.03)
