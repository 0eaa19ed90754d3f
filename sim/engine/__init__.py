"""The engine: CEPSim's algorithm, tick by tick; see README.md beside this package."""

from sim.engine.measures import Measures
from sim.engine.moments import EngineError, SceneError
from sim.engine.scene import Profile, Scene, Speed, Window
from sim.engine.settings import Settings
from sim.engine.simulation import Simulation

__all__ = [
    "EngineError",
    "Measures",
    "Profile",
    "Scene",
    "SceneError",
    "Settings",
    "Simulation",
    "Speed",
    "Window",
]
