"""A process of kube-scheduler, with its own defaults for everything but the connection."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STOPS_S = 10.0


@contextmanager
def kube_scheduler(program: str, url: str, folder: Path) -> Iterator[Path]:
    """Run kube-scheduler against an API server, and yield the file of its log."""
    with_server = {"clusters": [{"name": "here", "cluster": {"server": url}}]}
    context = {"contexts": [{"name": "here", "context": {"cluster": "here", "user": ""}}]}
    kubeconfig, config, log = folder / "kubeconfig", folder / "config", folder / "scheduler.log"
    kubeconfig.write_text(json.dumps(with_server | context | {"current-context": "here"}))
    connection = {"kubeconfig": str(kubeconfig)}
    for name in ("contentType", "acceptContentTypes"):
        connection[name] = "application/json"
    chosen = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "clientConnection": connection,
    }
    config.write_text(json.dumps(chosen))
    with log.open("w") as file:
        command = [program, "--config", str(config), "--secure-port", "0"]
        process = subprocess.Popen(command, stdout=file, stderr=file)
        try:
            yield log
        finally:
            process.terminate()
            try:
                process.wait(STOPS_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
