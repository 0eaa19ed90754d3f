"""CPU work: rounds of a hash until a target CPU time is reached."""

import hashlib
import time

SMOOTHING = 0.1  # weight of a new measurement of the rate
MIN_WORK_NS = 3_000  # a smaller remainder is carried over to the next tuple
MEASURABLE_NS = 50_000  # shorter work is not used to measure the rate
clock = time.thread_time_ns


class Burner:
    """Works until the thread has used a certain CPU time.

    Another process on the same physical core slows down the hash, but does not change the quota.
    Work is therefore CPU time, and the number of rounds per nanosecond is measured continuously.

    Attributes
    ----------
    rounds
        Rounds done so far.
    spent_ns
        CPU time of these rounds.
    """

    def __init__(self) -> None:
        self.rounds = 0
        self.spent_ns = 0
        self._per_ns = 1e-3

    def until(self, target_ns: int) -> int:
        """Work until the thread's CPU clock reaches `target_ns`; return its time then."""
        now = clock()
        while (left := target_ns - now) > MIN_WORK_NS:
            rounds = max(1, int(left * self._per_ns))
            hashlib.pbkdf2_hmac("sha256", b"work", b"salt", rounds)
            before, now = now, clock()
            self.rounds += rounds
            self.spent_ns += now - before
            if now - before > MEASURABLE_NS:
                self._per_ns += SMOOTHING * (rounds / (now - before) - self._per_ns)
        return now
