"""A discrete-event simulation of single tuples on placed operators; see sim/README.md."""

from streamplace.sim.tuples.deployment import Deployment, UnsupportedError, deploy
from streamplace.sim.tuples.run import TupleRun, expected_tuples, run
from streamplace.sim.tuples.state import Arrivals

__all__ = [
    "Arrivals",
    "Deployment",
    "TupleRun",
    "UnsupportedError",
    "deploy",
    "expected_tuples",
    "run",
]
