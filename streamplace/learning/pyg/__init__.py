"""Stream graphs as PyTorch Geometric data: `to_pyg`, and `StreamGraphs` for any dataset."""

try:
    import torch_geometric  # noqa: F401
except ImportError:
    raise ImportError(
        "streamplace.learning.pyg needs PyTorch: pip install 'streamplace[learn]'"
    ) from None

from streamplace.learning.pyg.data import OPERATOR_COLUMNS, STREAM_COLUMNS, to_pyg
from streamplace.learning.pyg.dataset import StreamGraphs

__all__ = ["OPERATOR_COLUMNS", "STREAM_COLUMNS", "StreamGraphs", "to_pyg"]
