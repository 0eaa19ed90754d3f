"""Limits on the threads of numpy and torch."""

import torch
from threadpoolctl import threadpool_info

from streamplace.util.threads import one_thread, one_thread_of_numpy


def threads() -> tuple[set[int], int]:
    """Return the numbers of threads of numpy's libraries, and that of torch."""
    libraries = {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}
    return libraries, torch.get_num_threads()


def test_threads_are_limited_within_the_context_only() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        outside = threads()
        with one_thread_of_numpy():
            assert threads() == ({1}, 2)
        with one_thread():
            assert threads() == ({1}, 1)
        assert threads() == outside
    finally:
        torch.set_num_threads(before)
