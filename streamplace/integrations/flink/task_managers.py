"""Writer of the lines that the configuration of each TaskManager needs for its labels."""

import json

from streamplace.integrations.flink.groups import groups_of
from streamplace.problem.placement import Placement

HEAD = """\
# Written by `streamplace export --to flink-config`: labels, one part per device with operators.
# Add each part to the config.yaml of the device's TaskManager and restart it; labels are fixed when
# a TaskManager starts. The JobManager needs none of them. Labels that begin with parts_ are
# counted: their amounts belong to one placement, and divide an operator among TaskManagers.
# Leave jobmanager.scheduler unset: the adaptive scheduler ignores labels without a message.
"""


def write(placement: Placement) -> str:
    """Return YAML, one document per device that runs operators.

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
