"""Small PyTorch modules, and inputs for them."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention.flex_attention import flex_attention


class Net(nn.Module):
    """Two linear layers, 6 → 5 → 4."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(6, 5), nn.Linear(5, 4)

    def forward(self, x: Tensor) -> Tensor:
        """Shapes: (N, 6) -> (N, 4)."""
        result: Tensor = self.b(torch.relu(self.a(x)))
        return result


class Images(nn.Module):
    """A convolution, a normalisation and pooling, in branches that join."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.pool = nn.MaxPool2d(2)
        self.short = nn.Conv2d(3, 8, 1, stride=2, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Shapes: (N, 3, H, W) -> (N, 8, H / 2, W / 2)."""
        result: Tensor = self.pool(self.norm(self.conv(x))) + self.short(x)
        return result


class Attention(nn.Module):
    """Self-attention of two heads, whose query, key and value are thirds of one product."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(8, 24), nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        """Shapes: (N, L, 8) -> (N, L, 8)."""
        parts = self.inner(x).chunk(3, dim=2)
        heads = [part.unflatten(2, (2, 4)).transpose(1, 2) for part in parts]
        mixed = nn.functional.scaled_dot_product_attention(*heads)
        result: Tensor = self.outer(mixed.transpose(1, 2).flatten(2))
        return result


class Tied(nn.Module):
    """A table of 10 words that is also the weight of the last layer."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.out = nn.Embedding(10, 4), nn.Linear(4, 10, bias=False)
        self.out.weight = self.words.weight

    def forward(self, x: Tensor) -> Tensor:
        """Shapes: (N, L) -> (N, L, 10)."""
        result: Tensor = self.out(self.words(x))
        return result


class Views(nn.Module):
    """Parts of one result that different operators read."""

    def forward(self, x: Tensor) -> Tensor:
        """Shapes: (4, 12) -> (4, 4)."""
        a, b, c = torch.relu(x).chunk(3, dim=1)
        return a * b + c.t()


class Modes(nn.Module):
    """Blocks without gradients, and with another precision."""

    def forward(self, x: Tensor) -> Tensor:
        """Shapes: (N, N) -> (N, N)."""
        with torch.no_grad():
            y = x * 2
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return y @ y


class Branching(nn.Module):
    """Control flow that depends on the data."""

    def forward(self, x: Tensor) -> Tensor:
        """Shapes: (N,) -> (N,)."""
        return x + 1 if x.sum() > 0 else x - 1


class Conditional(nn.Module):
    """Control flow that torch.export keeps."""

    def forward(self, x: Tensor) -> Tensor:
        """Shapes: (N,) -> (N,)."""
        result: Tensor = torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))
        return result


class Flexible(nn.Module):
    """A call of another graph whose work does not depend on the data."""

    def forward(self, x: Tensor) -> Tensor:
        """Shapes: (B, H, L, E) -> (B, H, L, E)."""
        result = flex_attention(x, x, x)
        assert isinstance(result, Tensor)
        return result


class Selection(nn.Module):
    """A shape that depends on the data."""

    def forward(self, x: Tensor) -> Tensor:
        """Shapes: (N,) -> (M, 1)."""
        return x.nonzero() + 1


class Inverse(nn.Module):
    """The inverse and a solution, which fail for singular matrices."""

    def forward(self, x: Tensor) -> Tensor:
        """Shapes: (N, N) -> (N, N)."""
        result: Tensor = torch.linalg.inv(x) + torch.linalg.solve(x, x + 1)
        return result


class Printing(nn.Module):
    """A side effect beside a check of a factorisation."""

    def forward(self, x: Tensor) -> Tensor:
        """Shapes: (N, N) -> (N, N)."""
        torch.ops.aten._print("called")
        result: Tensor = torch.linalg.inv(x)
        return result


class PrintingAfter(nn.Module):
    """The same, in the other order."""

    def forward(self, x: Tensor) -> Tensor:
        """Shapes: (N, N) -> (N, N)."""
        result: Tensor = torch.linalg.inv(x)
        torch.ops.aten._print("called")
        return result


class Counter(nn.Module):
    """Two buffers that each call changes, one in place and one by an assignment."""

    calls: Tensor
    total: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))
        self.register_buffer("total", torch.zeros(2), persistent=False)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Shapes: (2,) -> (2,), (2,): the sum with the old and with the new buffers."""
        old = x * self.calls + self.total
        self.calls += 1
        self.total = self.total + x
        return old, x * self.calls + self.total


CASES: dict[str, tuple[type[nn.Module], tuple[Any, ...]]] = {
    "net": (Net, (torch.randn(3, 6),)),
    "images": (Images, (torch.randn(2, 3, 10, 10),)),
    "attention": (Attention, (torch.randn(2, 5, 8),)),
    "tied": (Tied, (torch.ones(1, 3, dtype=torch.int64),)),
    "views": (Views, (torch.randn(4, 12),)),
    "modes": (Modes, (torch.randn(4, 4),)),
    "inverse": (Inverse, (torch.eye(4) + 1,)),
}
"""Name -> a module that can be exported, and inputs."""


def case(name: str) -> tuple[nn.Module, tuple[Any, ...]]:
    """Return the module of a case in evaluation mode, and its inputs."""
    module, inputs = CASES[name]
    return module().eval(), inputs
