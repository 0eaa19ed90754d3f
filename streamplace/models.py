"""The models of throughput; see `sim.bottleneck` and `sim.path_average`."""

from typing import Literal, get_args

Model = Literal["bottleneck", "path-average"]
MODELS: tuple[Model, ...] = get_args(Model)
