"""Figures of HSDAG's paper (Duan et al., NeurIPS 2024), measured with OpenVINO on real devices."""

from collections.abc import Mapping

CPU_ONLY, ACCELERATOR_ONLY = "CPU only", "accelerator only"
HSDAG, PLACETO, RNN = "HSDAG", "Placeto", "RNN"
NO_SIZE, NO_POSITION, NO_STRUCTURE = "without sizes", "without positions", "without structure"


def _of_each(inception: float, resnet: float, bert: float | None) -> dict[str, float | None]:
    return {"inception-v3": inception, "resnet50": resnet, "bert-base": bert}


MILLISECONDS: Mapping[str, Mapping[str, float | None]] = {
    CPU_ONLY: _of_each(12.8, 16.0, 6.38),
    ACCELERATOR_ONLY: _of_each(12.0, 7.81, 2.77),
    "OpenVINO, CPU first": _of_each(12.8, 23.4, 6.57),
    "OpenVINO, accelerator first": _of_each(13.8, 8.76, 2.84),
    PLACETO: _of_each(11.6, 9.32, 6.51),
    RNN: _of_each(12.8, 8.75, None),
    HSDAG: _of_each(10.5, 7.66, 2.67),
}
"""Table 2: system -> network -> latency in ms; the RNN had too little memory for BERT-base."""

ABLATION: Mapping[str, Mapping[str, float | None]] = {
    HSDAG: _of_each(17.9, 52.1, 58.2),
    NO_SIZE: _of_each(8.59, 52.0, 56.4),
    NO_POSITION: _of_each(8.59, 52.0, 56.4),
    NO_STRUCTURE: _of_each(14.8, 52.1, 58.2),
}
"""Variant -> network -> the share in percent by which the latency is below that of the CPU."""

SEARCH_S: Mapping[str, Mapping[str, float | None]] = {
    HSDAG: _of_each(2454.0, 1047.0, 2765.0),
    PLACETO: _of_each(2808.0, 1162.0, 4512.0),
    RNN: _of_each(3706.0, 1212.0, None),
}
"""Seconds of search, measurements of latencies included."""


def below_cpu(system: str, network: str) -> float | None:
    """Return the published share in percent by which a latency is below that of the CPU."""
    own = MILLISECONDS.get(system, {}).get(network)
    cpu = MILLISECONDS[CPU_ONLY].get(network)
    return None if own is None or cpu is None else 100.0 * (1.0 - own / cpu)
