"""A Gymnasium environment that places operators one by one.

>>> import gymnasium
>>> import streamplace.learning.env
>>> env = gymnasium.make("streamplace/Placement-v0", cluster="3x2500")

Needs Gymnasium, which the extra `env` installs.
"""

from streamplace.util.extras import missing_message

try:
    import gymnasium
except ImportError:
    raise ImportError(missing_message("streamplace.learning.env", "Gymnasium", "env")) from None

from streamplace.learning.env.environment import PlacementEnv

ID = "streamplace/Placement-v0"

gymnasium.register(id=ID, entry_point="streamplace.learning.env.environment:PlacementEnv")

__all__ = ["ID", "PlacementEnv"]
