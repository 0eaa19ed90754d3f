"""List schedulers beside schedules that their authors published."""

import pytest

import streamplace as sp
from streamplace.placers.base import BasePlacer
from streamplace.placers.registry import make_placer
from tests.support.placers import seeded_rng

# The example of Topcuoglu et al. (2002): seconds of ten tasks on three processors, and of messages.
SECONDS = {
    "t1": (14, 16, 9), "t2": (13, 19, 18), "t3": (11, 13, 19), "t4": (13, 8, 17),
    "t5": (12, 13, 10), "t6": (13, 16, 9), "t7": (7, 15, 11), "t8": (5, 11, 14),
    "t9": (18, 12, 20), "t10": (21, 7, 16),
}  # fmt: skip
MESSAGES = {
    "t1": {"t2": 18, "t3": 12, "t4": 9, "t5": 11, "t6": 14},
    "t2": {"t8": 19, "t9": 16},
    "t3": {"t7": 23},
    "t4": {"t8": 27, "t9": 23},
    "t5": {"t9": 13},
    "t6": {"t8": 15},
    "t7": {"t10": 17},
    "t8": {"t10": 11},
    "t9": {"t10": 13},
}


def published(scale: float = 1.0) -> sp.Problem:
    """Return the example, with all times multiplied by a factor; one byte takes one second."""
    kinds = ("p1", "p2", "p3")
    return sp.Problem(
        sp.StreamGraph(
            [
                sp.Operator(
                    name,
                    1.0,
                    0.0,
                    seconds_on={k: s * scale for k, s in zip(kinds, times, strict=True)},
                )
                for name, times in SECONDS.items()
            ],
            [
                sp.Stream(v, w, payload_bytes=seconds * scale)
                for v, targets in MESSAGES.items()
                for w, seconds in targets.items()
            ],
            firing="all",
        ),
        sp.Cluster(
            [sp.Device(k.upper(), 1.0, kind=k) for k in kinds],
            sp.Network("free", bandwidth_mbps=8e-6, latency_s=0.0),
        ),
        objective=sp.Makespan(),
    )


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e9, 1 / 3])
@pytest.mark.parametrize(("name", "seconds"), [("heft", 80), ("cpop", 86)])
def test_published_schedules(name: str, seconds: int, scale: float) -> None:
    """Ranks of t3 and t4 are equal, 80 s, so that rounding must not decide which comes first."""
    placer = make_placer(name)
    assert isinstance(placer, BasePlacer)
    listed = placer.run(published(scale), seeded_rng())
    assert listed.own_schedule_s == pytest.approx(seconds * scale, rel=1e-12)
