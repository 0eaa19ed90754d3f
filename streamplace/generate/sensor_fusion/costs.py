"""What it costs to move the sensor-fusion tasks and to run their devices."""

from streamplace.generate.sensor_fusion.times import CAMERA, CAV_FUSION, LIDAR, RSU_FUSION
from streamplace.problem.relocation import RelocationCost

STATE_BYTES = {CAMERA: 11_494.0, LIDAR: 560.0, CAV_FUSION: 11_796.0, RSU_FUSION: 20_907.0}
"""Type of task -> bytes that its migration sends (GiPH, appendix)."""
STATIC_BYTES = {
    CAMERA: 72_173_525.0,
    LIDAR: 24_576.0,
    CAV_FUSION: 38_110.0,
    RSU_FUSION: 38_950.0,
}
"""Type of task -> bytes of its code and weights (GiPH, appendix)."""
_STARTUP_OF_A = {CAMERA: 4.27373, LIDAR: 0.06098, CAV_FUSION: 0.00039, RSU_FUSION: 0.00283}
STARTUP_S = {
    "A": _STARTUP_OF_A,
    "B": _STARTUP_OF_A,  # not stated by the paper; those of A, the slower kind
    "C": {CAMERA: 0.79466, LIDAR: 0.00926, CAV_FUSION: 0.00011, RSU_FUSION: 0.001},
}
"""Kind of device -> type of task -> seconds to start (GiPH, appendix)."""
WATTS = {"A": 10.0, "B": 15.0, "C": 250.0}
"""Kind of device -> watts while it runs a task.

The paper's measurements of energy are not public. These are rated powers: the largest power mode of
the Jetson boards, and a Core i7 with a GTX 1080 under load.
"""


def relocation_cost(*, static: bool = False) -> RelocationCost:
    """Return what relocations of the tasks cost.

    Parameters
    ----------
    static
        Whether a move also sends code and weights. By default they are on every device.
    """
    return RelocationCost(STARTUP_S, STATE_BYTES, STATIC_BYTES if static else {})
