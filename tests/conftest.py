"""What holds for all tests: one Hypothesis profile, the same examples every run, and Ctrl-C.

A shell without job control lets what it starts in the background ignore SIGINT, and so would every
process that tests start.
"""

import signal

from hypothesis import settings

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("streamplace", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("streamplace")
