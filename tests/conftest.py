"""Settings of all tests: a Hypothesis profile with the same examples in every run, and Ctrl-C.

A shell without job control starts background processes that ignore SIGINT. The processes that
tests start would ignore it too, so the handler is restored here.
"""

import signal

from hypothesis import settings

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("streamplace", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("streamplace")
