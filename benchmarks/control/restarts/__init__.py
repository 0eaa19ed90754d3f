"""Runs of the engine that stop and go on, also as a job that is restarted from a savepoint.

A restarted job has another placement, other numbers of instances of the same operators, and a
downtime in which sources are offered tuples and nothing runs. What waits before an operator, at its
source or in its windows is divided among its new instances in proportion to the tuples that they
are expected to process. What was between devices is sent again. Counters go on, so nothing is lost
or doubled.
"""
