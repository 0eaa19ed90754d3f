"""The engine in plain Python: the oracle of the compiled engine, and the baseline of its speed.

The rules are the same and the data structures are not: a set of tuples is an object with the mean
time at which its tuples entered, queues are deques, and there are no arrays.
"""

from benchmarks.reference.engine.run import PlainEngine

__all__ = ["PlainEngine"]
