"""The best and the worst order of each graph, chosen by the other graphs."""

import numpy as np

from streamplace.util.arrays import Floats


def extremes(values: Floats) -> tuple[Floats, Floats]:
    """Return the values on each graph, (G,) each, of the lowest and of the highest order.

    Which orders these are is decided for every graph by the means over the other graphs, since the
    lowest and the highest of several noisy means differ even if all orders are alike.

    Parameters
    ----------
    values
        (G, O): a value per graph and order, of two graphs or more.
    """
    graph, of_others = np.arange(len(values)), values.sum(axis=0) - values
    return values[graph, of_others.argmin(axis=1)], values[graph, of_others.argmax(axis=1)]
