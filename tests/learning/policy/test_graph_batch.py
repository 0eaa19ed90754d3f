"""Batches of problems."""

import numpy as np
import pytest

from streamplace.learning.policy.device_scorer.features import encode
from streamplace.learning.policy.graph_batch import GraphBatch
from tests.support.policies import (
    cluster_of,
    layered_problem,
)


def test_problems_must_be_sorted_largest_first() -> None:
    small, large = (encode(layered_problem(n, cluster_of(2))) for n in (6, 9))
    with pytest.raises(ValueError, match="largest first"):
        GraphBatch([small, large])
    batch = GraphBatch([large, small, small])
    assert batch.active(np.arange(9, dtype=np.int32)).tolist() == [3] * 6 + [1] * 3
