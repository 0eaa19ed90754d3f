"""Stream graphs as PyTorch Geometric data: `to_pyg`, and `StreamGraphs` for any dataset."""

from streamplace.util.extras import missing_message

try:
    import torch_geometric  # noqa: F401
except ImportError:
    raise ImportError(missing_message("streamplace.learning.pyg", "PyTorch", "learn")) from None

from streamplace.learning.pyg.data import OPERATOR_COLUMNS, STREAM_COLUMNS, to_pyg
from streamplace.learning.pyg.dataset import StreamGraphs

__all__ = ["OPERATOR_COLUMNS", "STREAM_COLUMNS", "StreamGraphs", "to_pyg"]
