"""What streamplace is checked against by tests and by benchmarks: the same by other means.

An independent scorer, a plain engine, a browser, problems drawn at random, changes that must not
matter, and trainings that take a moment.
None of it is in the wheel.
"""
