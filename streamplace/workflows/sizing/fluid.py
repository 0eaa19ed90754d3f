"""Lower bounds on devices, if instances could be divided at will."""

from streamplace.placers.subset.conditions import Conditions
from streamplace.placers.subset.kinds import Kinds
from streamplace.placers.subset.price_bound import price_bound


def fluid_bound(conditions: Conditions, kinds: Kinds, survive: int) -> float:
    """Return a lower bound on the price of any set of devices that carries everything."""
    return price_bound(conditions, kinds, survive, kinds.cost(kinds.everything)).price
