"""How GiPH sends messages."""

from streamplace.problem.makespan import Semantics

SEMANTICS = Semantics("free", "none", latency_s=None)
"""Links are ``free``, and their latency is the start-up delay of a transfer (Hu et al. 2023)."""
