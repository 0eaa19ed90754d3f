"""The engine: a tick simulator based on CEPSim's algorithm; see sim/README.md."""

from sim.engine.metrics import RunMetrics
from sim.engine.scene import Profile, Scene, Speed, Window
from sim.engine.settings import Settings
from sim.engine.simulation import Simulation
from sim.engine.snapshots import EngineError, SceneError

__all__ = [
    "EngineError",
    "Profile",
    "RunMetrics",
    "Scene",
    "SceneError",
    "Settings",
    "Simulation",
    "Speed",
    "Window",
]
