"""The engine: a tick simulator based on CEPSim's algorithm; see sim/README.md."""

from streamplace.sim.engine.metrics import RunMetrics
from streamplace.sim.engine.scene import Profile, Scene, Speed, Window
from streamplace.sim.engine.settings import SettingError, Settings
from streamplace.sim.engine.simulation import Simulation
from streamplace.sim.engine.snapshots import EngineError, SceneError

__all__ = [
    "EngineError",
    "Profile",
    "RunMetrics",
    "Scene",
    "SceneError",
    "SettingError",
    "Settings",
    "Simulation",
    "Speed",
    "Window",
]
