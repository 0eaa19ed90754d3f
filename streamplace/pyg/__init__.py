"""Stream graphs as PyTorch Geometric data: `to_pyg`, and `StreamGraphs` for any dataset."""

try:
    import torch_geometric  # noqa: F401
except ImportError:
    raise ImportError("streamplace.pyg needs PyTorch: pip install 'streamplace[learn]'") from None

from streamplace.pyg.data import OPERATOR_COLUMNS, STREAM_COLUMNS, to_pyg
from streamplace.pyg.dataset import StreamGraphs

__all__ = ["OPERATOR_COLUMNS", "STREAM_COLUMNS", "StreamGraphs", "to_pyg"]
