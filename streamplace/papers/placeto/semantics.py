"""How Placeto sends messages."""

from streamplace.problem.makespan import Semantics

SEMANTICS = Semantics("egress", "all", gap_s=25e-6, startup_s=5.7e-6)
"""Links are ``egress``, and a device rests after an operator, as in the study of traversal orders.

A producer sends one message, the gap between messages is 25 µs, and the rest 5.7 µs.
"""
