"""How DOPPLER sends messages."""

from streamplace.problem.makespan import Semantics

SEMANTICS = Semantics("free", "none")
"""Links are ``free`` and have no latency, as in the released code."""
