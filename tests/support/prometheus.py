"""Prometheus' HTTP API with samples of a real Flink 2.3 job, as Prometheus 2.42 answered."""

import gzip
import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

from tests.support.http_server import Answer
from tests.support.paths import DATA

RECORDED = json.loads(
    gzip.decompress((DATA / "recorded" / "flink23-prometheus242.json.gz").read_bytes())
)
JOB = "1ea5bdcb0cc2fbd83f34291fcb5f19a5"
PLAN: dict[str, Any] = RECORDED["plan"]
NOTHING = {"status": "success", "data": {"resultType": "vector", "result": []}}
SELECTOR = re.compile(r'(\w+)\{job_id="([^"]*)"\}\[\d+s\]')
Change = Callable[[str, list[dict[str, Any]]], list[dict[str, Any]]]


def unchanged(metric: str, series: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the series of a metric as recorded."""
    return series


def recorded(change: Change = unchanged) -> Callable[[str, str], Answer]:
    """Return what answers queries, with the series of a metric after a change."""

    def answer(path: str, query: str) -> Answer:
        if path != "/api/v1/query":
            return 404, b"404 page not found"
        (text,) = parse_qs(query)["query"]
        found = RECORDED["answers"]["jobs"] if text.startswith("count by") else NOTHING
        if (match := SELECTOR.fullmatch(text)) and match[2] == JOB:
            found = RECORDED["answers"].get(match[1], NOTHING)
            found = json.loads(json.dumps(found))
            found["data"]["result"] = change(match[1], found["data"]["result"])
        elif not text.startswith("count by") and not match:
            fault = {"status": "error", "errorType": "bad_data", "error": "parse error"}
            return 400, json.dumps(fault).encode()
        return 200, json.dumps(found).encode()

    return answer
