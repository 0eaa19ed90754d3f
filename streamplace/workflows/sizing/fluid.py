"""Lower bounds on devices, if instances could be divided at will."""

from streamplace.placers.subset.conditions import Conditions
from streamplace.placers.subset.kinds import Kinds
from streamplace.placers.subset.price_bound import price_bound


def fluid_bound(conditions: Conditions, kinds: Kinds, survive: int) -> float:
    """Return a lower bound on the price of any set of devices that carries everything.

    A set that survives the loss of any one device is at least one device dearer than what carries
    everything without the strongest one.
    """
    known = kinds.cost(kinds.everything)
    bound = price_bound(conditions, kinds, survive, known).price
    if survive:
        strongest = int(conditions.amounts.sum(axis=0).argmax())
        rest = fluid_bound(conditions, kinds.with_one_less(strongest), survive - 1)
        bound = max(bound, min(known, rest + float(kinds.price.min())))
    return bound
