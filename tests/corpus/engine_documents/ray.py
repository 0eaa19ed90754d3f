"""Answers of the dashboard of Ray 2.60 about two actors, shortened."""

from typing import Any

ACTORS: dict[str, Any] = {
    "result": True,
    "msg": "",
    "data": {
        "result": {
            "total": 3,
            "num_after_truncation": 3,
            "num_filtered": 3,
            "result": [
                {
                    "actor_id": "4bb8efdb707318e31bc53fda01000000",
                    "class_name": "Op",
                    "state": "ALIVE",
                    "name": "count",
                    "node_id": "662fa83fe52a589f",
                    "pid": 29828,
                    "ray_namespace": "pipe",
                    "required_resources": {"d1": 0.001},
                },
                {
                    "actor_id": "fa45fb410cdf09385a5a097701000000",
                    "class_name": "Op",
                    "state": "ALIVE",
                    "name": "lines",
                    "node_id": "b7110de9d4084e23",
                    "pid": 29303,
                    "ray_namespace": "pipe",
                    "required_resources": {"d0": 0.001},
                },
                {
                    "actor_id": "0000fb410cdf09385a5a097701000000",
                    "class_name": "Op",
                    "state": "DEAD",
                    "name": "",
                    "node_id": None,
                    "ray_namespace": "pipe",
                },
            ],
            "partial_failure_warning": "",
            "warnings": None,
        }
    },
}
DETAIL: dict[str, Any] = {
    "result": True,
    "msg": "Actor details fetched.",
    "data": {
        "detail": {
            "actorId": "4bb8efdb707318e31bc53fda01000000",
            "state": "ALIVE",
            "numExecutedTasks": 2042,
            "taskQueueLength": 0,
            "processStats": {
                "pid": 29828,
                "cpuPercent": 34.3,
                "cpuTimes": {
                    "user": 7.0,
                    "system": 10.93,
                    "childrenUser": 0.0,
                    "childrenSystem": 0.0,
                },
            },
        }
    },
}
