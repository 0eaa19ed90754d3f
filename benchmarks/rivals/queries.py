"""The results that each query of `BidsJob` must have, and when each of them falls due."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
AUCTIONS, PRICES, SQUARES, BIDDERS = 1009, 10_000, 10_007, 211  # as in `Bid`
KEPT, CATEGORIES, HIGHEST = 4, 61, 2  # as in `BidsJob`, as are all times in numbers
JOINED, RANKED, GAP = 128, 256, 200


class Expected(NamedTuple):
    """The results of a query, each under the number of a bid: R of them.

    Parameters
    ----------
    number
        (R,) The bid.
    value
        (R,) The value of the result.
    group
        (R,) Within a group, bids may pass each other, and so get each other's values.
    cause
        (R,) The number of the tuple with which the result falls due.
    """

    number: Numbers
    value: Numbers
    group: Numbers
    cause: Numbers


@dataclass(frozen=True)
class Query:
    """A query.

    Parameters
    ----------
    expected
        Number of bids -> the results.
    what
        Its operators, and what is special about it.
    """

    expected: Callable[[int], Expected]
    what: str


def prices(number: Numbers) -> Numbers:
    """Return the price of each bid."""
    return 100 + number * 7919 % PRICES


def even_auctions(number: Numbers) -> Numbers:
    """Return the auction of each bid, where all auctions get the same number."""
    return number * 7 % AUCTIONS


def skewed_auctions(number: Numbers) -> Numbers:
    """Return the auction of each bid, where shares follow Zipf's law."""
    ranks = np.arange(1, AUCTIONS + 1)
    table = np.repeat(ranks - 1, AUCTIONS // ranks)
    return np.asarray(table[number * 7919 % len(table)])


def filtered(count: int) -> Expected:
    """Return the prices, in another currency, of the bids of every fourth auction."""
    every = np.arange(count)
    kept = every[even_auctions(every) % KEPT == 0]
    return Expected(kept, prices(kept) * 908 // 1000, kept, kept)


def counted(count: int, auctions: Callable[[Numbers], Numbers] = even_auctions) -> Expected:
    """Return the counts that the auctions reach with each bid, if bids come in order."""
    number = np.arange(count)
    auction = auctions(number)
    return Expected(number, _rank(auction, number), auction, number)


def joined(count: int) -> Expected:
    """Return by how much bids exceed the price at which their auction opened in the same window."""
    number = np.arange(count // JOINED * JOINED)
    bids = number[number % 8 != 0]
    opening = 8 * (bids // 8 - bids * 7 % 5)
    inside = (opening >= 0) & (opening // JOINED == bids // JOINED)
    bids, opening = bids[inside], opening[inside]
    return _closed(count, bids, prices(bids) - prices(opening), (bids // JOINED + 1) * JOINED)


def in_sessions(count: int) -> Expected:
    """Return the number of bids of each session of a bidder, under its last bid."""
    number = np.arange(count)
    bidder = number * number % SQUARES % BIDDERS
    order = np.lexsort((number, bidder))
    by_bidder, sorted_bidder = number[order], bidder[order]
    begins = np.flatnonzero((np.diff(by_bidder) > GAP) | (np.diff(sorted_bidder) != 0)) + 1
    ends = np.append(begins, len(number))
    last = by_bidder[ends - 1]
    return _closed(count, last, np.diff(ends, prepend=0), last + GAP)


def ranked(count: int) -> Expected:
    """Return the ranks of the highest bids of each category and window."""
    number = np.arange(count // RANKED * RANKED)
    window, category = number // RANKED, even_auctions(number) % CATEGORIES
    rank = _rank(window * CATEGORIES + category, -prices(number))
    top = number[rank <= HIGHEST]
    return _closed(count, top, rank[rank <= HIGHEST], (top // RANKED + 1) * RANKED)


def _rank(key: Numbers, by: Numbers) -> Numbers:
    """Return the rank, from 1 on, of each member among those with its key."""
    order = np.lexsort((by, key))
    places = np.arange(len(key))
    first = np.concatenate([[True], np.diff(key[order]) != 0])[: len(key)]
    rank = np.empty(len(key), dtype=np.int64)
    rank[order] = places - np.maximum.accumulate(np.where(first, places, 0)) + 1
    return rank


def _closed(count: int, number: Numbers, value: Numbers, cause: Numbers) -> Expected:
    """Return the results of the windows that close with the first tuples."""
    closed = cause < count
    return Expected(number[closed], value[closed], number[closed], cause[closed])


QUERIES: dict[str, Query] = {
    "filter": Query(filtered, "a filter, without state"),
    "counts": Query(counted, "counts per auction"),
    "join": Query(joined, "a join of auctions and bids in tumbling windows"),
    "sessions": Query(in_sessions, "session windows per bidder"),
    "top": Query(ranked, "the highest bids of each category in tumbling windows"),
    "rocksdb": Query(counted, "counts, with state in RocksDB"),
    "skewed": Query(
        lambda count: counted(count, skewed_auctions), "counts, with shares by Zipf's law"
    ),
    "hidden": Query(counted, "counts, with a source that does not report what waits"),
}
