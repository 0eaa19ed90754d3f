"""Small jobs that compete for devices."""

from streamplace import Job, Jobs
from tests.support.graphs import chain_graph


def competing_jobs(priority: float = 1, min_throughput: float = 0.0) -> Jobs:
    """Return two jobs that load a device of 2500 MIPS by 0.6 and 0.8.

    Parameters
    ----------
    priority
        That of the first job, ``orders``; the second one, ``clicks``, has priority 0.
    min_throughput
        That of ``clicks``.
    """
    orders = Job("orders", chain_graph(6e5, 9e5), priority=priority)
    clicks = Job("clicks", chain_graph(8e5, 1.2e6), min_throughput=min_throughput)
    return Jobs([orders, clicks])
