"""Schedulers of other libraries, in their simulators and in ours."""
