"""The number of devices that a network with one output per device requires."""

from streamplace.errors import UnsuitableError
from streamplace.problem.problem import Problem


def check_devices(problem: Problem, expected: int) -> None:
    """Refuse a problem with another number of devices than the network has outputs.

    Raises
    ------
    UnsuitableError
        If the numbers differ; the message says how to train for the problem's number.
    """
    devices = len(problem.cluster.devices)
    if devices != expected:
        raise UnsuitableError(
            f"this policy requires {expected} devices (got {devices}); for {devices}, train one "
            f"whose config has sizes = {{ devices = {devices} }} under [policy]"
        )
