"""Answers of the scripts of this folder that run in the environments of other libraries.

A script reads a request as JSON per line of stdin, and writes an answer as JSON per line of stdout.
"""

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

Request = dict[str, Any]
Answer = dict[str, Any]


class TimeIsOver(BaseException):
    """The end of the CPU time of a request, which no library should catch."""


def serve(parts: dict[str, Callable[[Request], Any]], seed: Callable[[int], None]) -> None:
    """Answer requests until stdin ends.

    A request names its ``part``. It may have a ``limit`` in CPU seconds, a ``seed`` of random
    numbers, and CPU seconds to ``measure``: the part is run again until they are spent, because the
    CPU clock can be as coarse as 4 ms. The answer has the first ``value`` and the mean CPU
    ``seconds``, or says why it ``failed``. What a library prints goes to stderr.
    """
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    signal.signal(signal.SIGVTALRM, _stop)
    for line in sys.stdin:
        request = json.loads(line)
        random.seed(request.get("seed", 0))
        seed(request.get("seed", 0))
        print(json.dumps(_answer(parts[request["part"]], request)), file=answers, flush=True)


def _answer(part: Callable[[Request], Any], request: Request) -> Answer:
    begun = time.process_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, request.get("limit", 0.0))
    try:
        value, runs = part(request), 1
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        while time.process_time() - begun < request.get("measure", 0.0):
            part(request)
            runs += 1
    except TimeIsOver:
        return {"failed": "time"}
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"[:300]}
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
    return {"value": value, "seconds": (time.process_time() - begun) / runs}


def _stop(*_: object) -> None:
    raise TimeIsOver
