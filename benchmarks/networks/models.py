"""ResNet-50, Inception-V3 and BERT-base with random weights, from torchvision and transformers.

Nothing is downloaded, and neither package is a dependency of streamplace:

    pip install --no-deps torchvision
    pip install transformers
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import torch

TOKENS = 128
"""Length of BERT's input, the one with which most of its pre-training was done."""


@dataclass(frozen=True)
class Network:
    """A module in evaluation mode, and example inputs for it.

    Parameters
    ----------
    source
        Package and function, or class, that define it.
    """

    module: torch.nn.Module
    inputs: tuple[torch.Tensor, ...]
    source: str


def resnet50() -> Network:
    """Return ResNet-50 for one image of 224 x 224 pixels."""
    module = _torchvision().resnet50(weights=None)
    return Network(module.eval(), (torch.randn(1, 3, 224, 224),), "torchvision.models.resnet50")


def inception_v3() -> Network:
    """Return Inception-V3 for one image of 299 x 299 pixels, without the auxiliary classifier."""
    module = _torchvision().inception_v3(weights=None, init_weights=False, aux_logits=False)
    return Network(module.eval(), (torch.randn(1, 3, 299, 299),), "torchvision.models.inception_v3")


def bert_base(tokens: int = TOKENS) -> Network:
    """Return BERT-base for one text; its attention is several operators, as in the paper's graph.

    Parameters
    ----------
    tokens
        Length of the text.
    """
    transformers = import_module("transformers")
    config = transformers.BertConfig(attn_implementation="eager")
    inputs = (torch.randint(0, config.vocab_size, (1, tokens)),)
    return Network(transformers.BertModel(config).eval(), inputs, "transformers.BertModel")


NETWORKS: Mapping[str, Callable[[], Network]] = {
    "resnet50": resnet50,
    "inception-v3": inception_v3,
    "bert-base": bert_base,
}
"""Name -> function that returns the network."""


SOURCES = {"resnet50": "torchvision", "inception-v3": "torchvision", "bert-base": "transformers"}
"""Name -> the package that defines the network."""


def network(name: str) -> Network:
    """Return a network with the weights and inputs of seed 0."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return NETWORKS[name]()


def _torchvision() -> Any:
    """Return torchvision's models.

    A build of torchvision for another build of torch cannot load its compiled operators, and its
    import then fails because two of them do not exist. No model here uses them, so they are
    declared without an implementation.
    """
    try:
        return import_module("torchvision.models")
    except RuntimeError as error:
        if "torchvision::" not in str(error):
            raise
    library = torch.library.Library("torchvision", "FRAGMENT")  # type: ignore[no-untyped-call]  # torch has no types for it
    for name in ("nms", "qnms"):
        if not hasattr(torch.ops.torchvision, name):
            library.define(f"{name}{_OVERLAPS}")  # type: ignore[no-untyped-call]
    _KEPT.append(library)  # its declarations end with it
    for name in [each for each in sys.modules if each.partition(".")[0] == "torchvision"]:
        del sys.modules[name]
    return import_module("torchvision.models")


_OVERLAPS = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
_KEPT: list[torch.library.Library] = []
