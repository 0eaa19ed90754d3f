"""Random problems of makespans whose messages queue for nothing and take no CPU time."""

from random import Random

from benchmarks.reference.schedule_problems import ScheduleForm, schedule_problem


def free_form(seed: int, multicast: str = "none") -> ScheduleForm:
    """Return a random problem under FIFO with links `free` and devices of one core.

    Some problems have limits of memory, and some have two colocated operators.
    """
    form, rng = schedule_problem(seed), Random(seed)
    form["settings"] |= {"order": "fifo", "barrier": False}
    form["graph"]["multicast"] = multicast
    network = form["cluster"]["network"]
    network |= {"kind": "free", "overhead_s": 0, "overhead_s_per_byte": 0}
    network["overrides"] = [
        {key: value for key, value in each.items() if key != "overhead_s"}
        for each in network.get("overrides", ())
        if "from" in each and "to" in each
    ]
    for device in form["cluster"]["devices"]:
        device |= {"cores": 1, "overhead_s_per_byte": 0}
    _add_constraints(form, rng)
    return form


def _add_constraints(form: ScheduleForm, rng: Random) -> None:
    """Add memory to some problems, and colocation where every device can run all operators."""
    operators, devices = form["graph"]["operators"], form["cluster"]["devices"]
    if rng.random() < 0.3:
        for operator in operators:
            operator["memory_bytes"] = rng.choice((1, 2))
        devices[0]["memory_bytes"] = len(operators)
    if len(operators) > 1 and not any("kind" in device for device in devices):
        pair = [operator["name"] for operator in rng.sample(operators, 2)]
        form["graph"]["constraints"] = {"colocate": [pair] if rng.random() < 0.5 else []}
