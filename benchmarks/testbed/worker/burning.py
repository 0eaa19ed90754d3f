"""CPU work: rounds of a hash, as many as take a given time of a core."""

import hashlib
import time

SMOOTHING = 0.1  # what a measurement adds to the rate known so far
WORTH_IT_NS = 3_000  # less than that is left to the next tuple's account
MEASURABLE_NS = 50_000
clock = time.thread_time_ns


class Burner:
    """Works until the thread has used a given CPU time.

    A neighbour on the same physical core makes hashing slower, but not the quota: so work is CPU
    time, and the rounds that make it are learned all the while.

    Attributes
    ----------
    rounds
        Done so far.
    spent_ns
        CPU time they took.
    """

    def __init__(self) -> None:
        self.rounds = 0
        self.spent_ns = 0
        self._per_ns = 1e-3

    def until(self, target_ns: int) -> int:
        """Work until the thread's CPU clock shows `target_ns`; return what it shows then."""
        now = clock()
        while (left := target_ns - now) > WORTH_IT_NS:
            rounds = max(1, int(left * self._per_ns))
            hashlib.pbkdf2_hmac("sha256", b"work", b"salt", rounds)
            before, now = now, clock()
            self.rounds += rounds
            self.spent_ns += now - before
            if now - before > MEASURABLE_NS:
                self._per_ns += SMOOTHING * (rounds / (now - before) - self._per_ns)
        return now
