"""A transformer block on two unequal devices: the time of one pass, alone and side by side."""

import torch
from torch import Tensor, nn

import streamplace as sp
from streamplace.networks.torch.graph import from_module


class Block(nn.Module):
    """A transformer block whose attention and feed-forward layers run side by side."""

    def __init__(self, size: int = 256, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(size)
        self.query, self.key, self.value = (nn.Linear(size, size) for _ in range(3))
        self.out = nn.Linear(size, size)
        self.up, self.gate = nn.Linear(size, 4 * size), nn.Linear(size, 4 * size)
        self.down = nn.Linear(4 * size, size)

    def forward(self, x: Tensor) -> Tensor:
        """Shapes: (N, L, size) -> (N, L, size)."""
        y = self.norm(x)
        parts = (
            each(y).unflatten(2, (self.heads, -1)) for each in (self.query, self.key, self.value)
        )
        mixed = nn.functional.scaled_dot_product_attention(*(p.transpose(1, 2) for p in parts))
        attended = self.out(mixed.transpose(1, 2).flatten(2))
        fed = self.down(nn.functional.silu(self.gate(y)) * self.up(y))
        result: Tensor = x + attended + fed
        return result


graph = from_module(Block().eval(), (torch.randn(1, 128, 256),))
cluster = sp.Cluster(
    [sp.Device("small", mips=20_000), sp.Device("large", mips=50_000)],  # million FLOP/s
    sp.Network("pair", bandwidth_mbps=10_000, latency_s=2e-5),
)
attention = ("query", "key", "value", "scaled", "out")
by_hand = {name: "small" if name.startswith(attention) else "large" for name in graph.names}
print(f"{len(graph.names)} operators, {graph.instructions.sum() / 1e6:.0f} million operations")
for name, assignment in (
    ("all on the large device", dict.fromkeys(graph.names, "large")),
    ("attention on the small one", by_hand),
):
    score = sp.simulate(graph, assignment, cluster, objective=sp.Makespan())
    print(f"{name}: {1e3 * score.makespan_s:.2f} ms")
