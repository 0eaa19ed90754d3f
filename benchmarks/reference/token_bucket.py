"""A plain token bucket, which limits the bandwidth of a link as the kernel does."""

from collections.abc import Sequence


def arrivals(
    ready_s: Sequence[float], size: Sequence[float], rate: float, burst: float
) -> list[float]:
    """Return when each of N messages has passed a link, in their order.

    A message starts when it is ready and the one before it has passed. Its bytes pass as fast as
    there are tokens. Tokens arrive at the rate of the link, and at most a burst of them is kept.

    Parameters
    ----------
    ready_s, size
        (N,) seconds, in ascending order, and bytes.
    rate, burst
        Bytes/s and bytes. The bucket is full at first.
    """
    now, tokens = 0.0, burst
    passed = []
    for ready, left in zip(ready_s, size, strict=True):
        start = max(ready, now)
        tokens = min(burst, tokens + (start - now) * rate)
        wait = max(0.0, left - tokens) / rate
        tokens += wait * rate - left
        now = start + wait
        passed.append(now)
    return passed
