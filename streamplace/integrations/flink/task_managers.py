"""Writer of the lines that the configuration of each TaskManager needs for its labels."""

import json

from streamplace.integrations.flink.groups import groups_of
from streamplace.problem.placement import Placement

HEAD = """\
# Written by `streamplace export --to flink-config`: labels, one part per device of the cluster.
# Add each part to the config.yaml of the device's TaskManager and restart it once; labels are fixed
# when a TaskManager starts. They fit every placement of this job on these devices, also with other
# numbers of instances: those that begin with parts_ limit the slots of a divided operator on one
# device each. The JobManager needs none of them.
# Leave jobmanager.scheduler unset: the adaptive scheduler ignores labels without a message.
"""


def write(placement: Placement) -> str:
    """Return YAML, one document per device of the cluster.

    Raises
    ------
    ProblemError
        As for ``--to flink``.
    """
    parts = [HEAD]
    for device, labels in groups_of(placement, labels=True).labels.items():
        parts.append(f"--- # {json.dumps(device)}\nexternal-resources: {';'.join(labels)}\n")
        parts += [f"external-resource.{name}.amount: {n}\n" for name, n in labels.items()]
    return "".join(parts)
