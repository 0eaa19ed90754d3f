"""The models of throughput; see `sim.bottleneck`, `sim.path_average` and `sim.engine`."""

from typing import Literal, get_args

Model = Literal["bottleneck", "path-average", "engine"]
MODELS: tuple[Model, ...] = get_args(Model)
CLOSED_FORMS: tuple[Model, ...] = ("bottleneck", "path-average")
