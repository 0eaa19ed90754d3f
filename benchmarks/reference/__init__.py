"""Reference implementations and test problems, shared by the tests and the benchmarks.

They are an independent scorer, engines of throughput and of makespans in plain Python, a browser,
random problems, changes of a problem with a known effect, and short training runs. None of them is
part of the wheel.
"""
