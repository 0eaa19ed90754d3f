"""Estimates of the latency of single tuples by queueing theory; see sim/README.md."""

from streamplace.sim.queueing.estimate import Estimate, estimated

__all__ = ["Estimate", "estimated"]
