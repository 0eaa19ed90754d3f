"""Networks of tests are too small for more than one thread."""

import warnings

from tests.policy.conftest import one_thread

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", ".torch.jit.script. is deprecated", DeprecationWarning)
    import torch_geometric  # noqa: F401 - its import warns, and warnings are errors here

__all__ = ["one_thread"]
