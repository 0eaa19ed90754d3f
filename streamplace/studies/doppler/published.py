"""The figures of the paper, as makespans in ms that were measured on GPUs."""

from streamplace.studies.doppler.workloads import GRAPHS


def _of_each(*values: float) -> dict[str, float]:
    return dict(zip(GRAPHS, values, strict=True))


TABLE_2 = {
    "one device": _of_each(439.9, 148.5, 462.8, 483.2),
    "critical path, best of 50": _of_each(230.4, 217.8, 230.9, 292.6),
    "Placeto": _of_each(137.1, 126.3, 411.5, 295.1),
    "Placeto, pre-trained": {"ffnn": 99.0},
    "EnumerativeOptimizer": _of_each(139.0, 50.2, 172.7, 174.8),
    "DOPPLER": _of_each(122.5, 49.9, 191.5, 167.0),
    "SEL only": _of_each(127.0, 59.1, 175.6, 161.7),
    "PLC only": _of_each(121.6, 63.2, 172.9, 159.5),
    "messages at every step": {"chain-mm": 121.7},
}
"""The last three rows are the paper's ablations (Table 6 for messages at every step)."""

EIGHT_GPUS = {
    "critical path, best of 50": _of_each(69.6, 50.0, 117.6, 105.4),
    "EnumerativeOptimizer": _of_each(33.5, 20.0, 109.6, 97.5),
    "DOPPLER": _of_each(32.1, 16.2, 109.7, 90.6),
}

PUBLISHED_DEVICES = 4
"""Number of devices in most experiments, among them the transfers."""

BY_DEVICES = {4: TABLE_2, 8: EIGHT_GPUS}
"""Number of devices -> system -> workload -> milliseconds."""

HEADS = {
    4: "published, ms on P100s (Doppler-SIM)",
    8: "published, ms on V100s (Doppler-SYS)",
}
"""Number of devices -> head of the column. Doppler-SIM stops before the stage of measured times."""

MEMORY = {
    "EnumerativeOptimizer": _of_each(133.5, 49.2, 233.8, 172.8),
    "DOPPLER": _of_each(122.6, 46.0, 190.2, 154.0),
}
"""Devices of which 8 GB may be used."""

MEMORY_HEAD = "published, ms on P100s (Doppler-SYS)"

TRANSFER = {
    ("ffnn", "transformer-block"): (251.0, 165.3, 159.4),
    ("chain-mm", "transformer-block"): (242.3, 184.9, 174.0),
    ("ffnn", "transformer-layer"): (206.1, 158.2, 155.8),
    ("chain-mm", "transformer-layer"): (338.2, 164.4, 156.4),
}
"""Trained on, placed -> milliseconds without episodes on the target, after 2,000 and 4,000."""

BARRIER = {"chain-mm": (139.0, 185.3), "ffnn": (50.2, 76.9)}
"""Table 1: EnumerativeOptimizer without and with a barrier between levels."""
