"""The engine once more in plain Python: oracle of the compiled one, and what it is timed against.

Same rules, other means: sets are objects with the time each of their tuples entered on average,
queues are deques, and nothing is an array.
"""

from benchmarks.reference.engine.run import PlainEngine

__all__ = ["PlainEngine"]
