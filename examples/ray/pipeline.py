"""A pipeline of Ray actors, each on the node of the device where streamplace has placed it.

    python pipeline.py JOB ACTORS RATE WARM_UP MEASURED

JOB is a JSON file: operator -> {"inputs": [operators], "cpu_s": CPU seconds of a call, "out": [n,
m] for n tuples per m calls}, upstream first; operators without inputs are fed with RATE calls per
second, or as many as they take. ACTORS is what ``streamplace export --to ray`` writes. Once all
actors run, a line says so. After WARM_UP seconds, the rate of each operator's calls within MEASURED
seconds is printed as JSON, and the nodes of its actors.
"""

import json
import sys
import time
from collections import deque
from itertools import count
from pathlib import Path
from typing import Any

import ray

LIMIT = 4  # calls under way between two actors, so that a slow one holds back those before it
PAYLOAD = b"x" * 1000


class Sender:
    """Calls of actors in turn, of which a few at most are under way to each."""

    def __init__(self, actors: list[Any]) -> None:
        self._rows = [(actor, deque[Any]()) for actor in actors]
        self._turn = count()

    def send(self, tuple_: bytes) -> None:
        """Call the next actor, once the oldest of its calls has ended if too many are under way."""
        actor, under_way = self._rows[next(self._turn) % len(self._rows)]
        if len(under_way) == LIMIT:
            ray.get(under_way.popleft())
        under_way.append(actor.process.remote(tuple_))


class Operator:
    """An actor that works on each tuple and passes tuples on."""

    def __init__(self, cpu_s: float, out: tuple[int, int]) -> None:
        self.cpu_s, self.out, self.calls = cpu_s, out, 0
        self.senders: list[Sender] = []

    def connect(self, targets: list[list[Any]]) -> None:
        """Set the actors of each operator after this one."""
        self.senders = [Sender(actors) for actors in targets]

    def process(self, tuple_: bytes) -> None:
        """Work on a tuple, and send those that it gives rise to."""
        began = time.process_time()
        while time.process_time() - began < self.cpu_s:
            pass
        self.calls += 1
        made, per = self.out
        for _ in range(made * self.calls // per - made * (self.calls - 1) // per):
            for each in self.senders:
                each.send(tuple_)

    def state(self) -> tuple[str, float, int]:
        """Return the node, a time, and the calls up to then."""
        return ray.get_runtime_context().get_node_id(), time.time(), self.calls


Actor: Any = ray.remote(Operator)


def started(job: dict[str, Any], options: dict[str, Any]) -> dict[str, list[Any]]:
    """Start and connect the actors; return operator -> its actors."""
    actors = {
        name: [Actor.options(**each).remote(about["cpu_s"], about["out"]) for each in options[name]]
        for name, about in job.items()
    }
    for name, row in actors.items():
        after = [actors[each] for each, about in job.items() if name in about["inputs"]]
        ray.get([actor.connect.remote(after) for actor in row])
    return actors


def fed(sources: list[Sender], rate: float, until: float) -> None:
    """Feed sources at a rate until a time; what they do not take in time is not sent later."""
    due = time.time()
    while time.time() < until:
        for each in sources:
            each.send(PAYLOAD)
        due = max(due + 1.0 / rate, time.time() - 1.0)
        time.sleep(max(due - time.time(), 0.0))


def main(job_file: str, actors_file: str, rate: float, warm_up_s: float, measured_s: float) -> None:
    """Run the pipeline and print what it has done."""
    ray.init(address="auto", namespace="streamplace", log_to_driver=False)
    job = json.loads(Path(job_file).read_text())
    actors = started(job, json.loads(Path(actors_file).read_text())["actors"])
    print("running", flush=True)
    sources = [Sender(actors[name]) for name, about in job.items() if not about["inputs"]]
    states = []
    for seconds in (warm_up_s, measured_s):
        fed(sources, rate, time.time() + seconds)
        states.append(
            {n: ray.get([each.state.remote() for each in row]) for n, row in actors.items()}
        )
    rates = {
        name: sum((b[2] - a[2]) / (b[1] - a[1]) for a, b in zip(*rows, strict=True))
        for name, *rows in ((name, *(state[name] for state in states)) for name in actors)
    }
    nodes = {name: [node for node, *_ in row] for name, row in states[-1].items()}
    print(json.dumps({"rates": rates, "nodes": nodes}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(float, sys.argv[3:6]))
