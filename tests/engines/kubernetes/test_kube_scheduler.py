"""`benchmarks.kubernetes`: the API that kube-scheduler uses, and kube-scheduler itself."""

import json
import os
import sys
from urllib.request import Request, urlopen

import pytest

from benchmarks.kubernetes.__main__ import main
from benchmarks.kubernetes.api import Api, Object
from benchmarks.kubernetes.placements import drawn
from benchmarks.kubernetes.trials import OTHER, Trial

PROGRAM = "STREAMPLACE_KUBE_SCHEDULER"
PODS = "/api/v1/namespaces/default/pods"


def send(api: Api, method: str, path: str, content: Object) -> None:
    """Send a request as the scheduler would."""
    request = Request(api.url + path, json.dumps(content).encode(), method=method)
    with urlopen(request) as answer:
        assert answer.status in (200, 201)


def test_a_watch_has_the_changes_after_a_list() -> None:
    with Api() as api:
        api.put("pods", {"metadata": {"name": "a"}, "spec": {}})
        with urlopen(f"{api.url}/api/v1/pods") as answer:
            found = json.load(answer)
        assert [pod["metadata"]["name"] for pod in found["items"]] == ["a"]
        version = found["metadata"]["resourceVersion"]
        send(api, "POST", f"{PODS}/a/binding", {"target": {"name": "n"}})
        with urlopen(f"{api.url}/api/v1/pods?watch=1&resourceVersion={version}") as answer:
            event = json.loads(answer.readline())
        assert (event["type"], event["object"]["spec"]) == ("MODIFIED", {"nodeName": "n"})


def test_pods_are_judged_by_the_node_that_the_scheduler_names() -> None:
    placement = drawn(0, 0)
    with Api() as api:
        trial = Trial(api, placement, "t")
        trial.apply(trial.devices)
        first, second, third = trial.pods
        send(api, "POST", f"{PODS}/{first}/binding", {"target": {"name": trial.node("d0")}})
        send(api, "POST", f"{PODS}/{second}/binding", {"target": {"name": f"t-{OTHER}"}})
        reason = {"conditions": [{"type": "PodScheduled", "message": "0/4 nodes"}]}
        send(api, "PATCH", f"{PODS}/{third}/status", {"status": reason})
        assert trial.decided()
        assert (trial.misplaced(), trial.pending()) == ([second], [third])
        assert trial.reason(third) == "0/4 nodes"


@pytest.mark.long
@pytest.mark.skipif(PROGRAM not in os.environ, reason=f"needs kube-scheduler, {PROGRAM}")
def test_kube_scheduler_lets_pods_run_where_they_are_placed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["kubernetes", "--scheduler", os.environ[PROGRAM], "--placements", "4"]
    monkeypatch.setattr(sys, "argv", words)
    assert main() == 0
    row = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("mapped"))
    assert row.split()[-2:] == ["0", "0"]  # elsewhere, faults
