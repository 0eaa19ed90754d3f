"""What streamplace is checked against by tests and by benchmarks: the same by other means.

An independent scorer, a plain engine, problems drawn at random, and changes that must not matter.
None of it is in the wheel.
"""
