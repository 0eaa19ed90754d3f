"""The exact total cost of one pass, as a sum over operators and messages.

It shares no code with `sim` or `streamplace`.
"""

from fractions import Fraction

from benchmarks.reference.schedule_inputs import Form, ScheduleInputs


def plain_total_cost(graph: Form, cluster: Form, settings: Form, placement: Form) -> Fraction:
    """Return the execution and transfer times of a placement in seconds, from JSON forms.

    Raises
    ------
    ValueError
        If an operator is on a device that cannot run it.
    """
    inputs = ScheduleInputs(graph, cluster, settings, placement)
    total = Fraction(0)
    for v, d in enumerate(inputs.place):
        seconds = inputs.seconds(v, d)
        if seconds is None:
            raise ValueError(f"operator {inputs.names[v]!r} cannot run on its device")
        total += seconds
    for message in inputs.messages():
        transfers = (message.largest("transfer_s"), message.largest("receive_transfer_s"))
        total += max(transfers) + message.largest("latency_s")
    return total
