"""Numbers of devices on which searches look for placements."""


def ladder(devices: int) -> list[int]:
    """Return 1, 2, 3, 4, 6, 8, 12, …, each a third or half larger, and `devices` as the last."""
    # A search on every number would take too long, and neighbours differ by little.
    rungs = {step << power for step in (2, 3) for power in range(devices.bit_length())}
    return [*sorted(rung for rung in {1, *rungs} if rung < devices), devices]
