"""One Hypothesis profile for all tests: the same examples every run, and no clock."""

from hypothesis import settings

settings.register_profile("streamplace", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("streamplace")
