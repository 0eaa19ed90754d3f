"""Files of weights: safetensors with metadata and a hash that is checked first."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn

from streamplace.errors import CheckpointError, TrainingError
from streamplace.files.bounded import read_raw
from streamplace.policy.config import DeviceScorerKind, EncoderDecoderKind, check_kind
from streamplace.policy.registry import Network, make_network
from streamplace.util.out_of_memory import is_out_of_memory

FORMAT = "streamplace-policy"
VERSION = "1"
WORDS = "__metadata__"
"""What a safetensors header calls the words that a file carries."""


def packed(tensors: Mapping[str, Tensor], words: Mapping[str, str]) -> bytes:
    """Return tensors and words as a safetensors file that carries their hash.

    The same tensors and words give the same bytes.
    """
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    signed = {**words, "sha256": _hash(plain, words)}
    return _sorted(safetensors.torch.save(plain, signed))


def _sorted(data: bytes) -> bytes:
    """Return a safetensors file with its words in order; safetensors writes them in any."""
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:end])
    header[WORDS] = dict(sorted(header[WORDS].items()))
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # tensors are to be aligned
    return len(text).to_bytes(8, "little") + text + data[end:]


def unpacked(data: bytes, where: str) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Return the tensors and words of a file written by `packed`.

    Raises
    ------
    CheckpointError
        If it is no such file, or not as it was written. Nothing in it is ever executed.
    """
    try:
        tensors = safetensors.torch.load(data)
        length = int.from_bytes(data[:8], "little")
        words = dict(json.loads(data[8 : 8 + length])[WORDS])
    except (safetensors.SafetensorError, ValueError, KeyError, TypeError, RuntimeError) as error:
        if is_out_of_memory(error):
            raise MemoryError from None  # the file may well be sound
        raise CheckpointError(f"{where}: no safetensors file of streamplace: {error}") from None
    signed = words.pop("sha256", None)
    if signed != _hash(tensors, words):
        raise CheckpointError(f"{where}: damaged: it is not what was written")
    return tensors, words


def parsed(word: str) -> Any:
    """Return what a word of JSON says.

    Raises
    ------
    ValueError
        If it is no JSON, holds numbers that are none, or is nested too deeply.
    """
    try:
        value = json.loads(word)
        json.dumps(value, allow_nan=False)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


def pack_policy(
    network: nn.Module,
    kind: DeviceScorerKind | EncoderDecoderKind,
    card: Mapping[str, Any],
    *,
    half: bool = False,
) -> bytes:
    """Return a network as a file: weights, kind, sizes, and a card of where they are from.

    Parameters
    ----------
    half
        Whether to round weights to 16 bits.

    Raises
    ------
    TrainingError
        If a weight is not finite, or would not be in 16 bits.
    """
    words = {
        "format": FORMAT,
        "version": VERSION,
        "kind": kind.kind,
        "sizes": kind.sizes.model_dump_json(),
        "card": json.dumps(card),
    }
    weights = network.state_dict()
    if half:
        weights = {name: x.half() for name, x in weights.items()}
    for name, x in weights.items():
        if not torch.isfinite(x).all():
            bits = " in 16 bits" if half else ""
            raise TrainingError(f"parameter {name} is not finite{bits}; nothing is written")
    return packed(weights, words)


def read_policy(path: str | Path) -> tuple[Network, dict[str, Any]]:
    """Read a network and its card.

    Raises
    ------
    CheckpointError
        If the file is none, damaged, or of another version.
    """
    tensors, words = unpacked(read(path), str(path))
    if words.get("format") != FORMAT or words.get("version") != VERSION:
        raise CheckpointError(f"{path}: holds no policy of version {VERSION}")
    try:
        kind = {"kind": words["kind"], "sizes": parsed(words["sizes"])}
        checked = check_kind(kind)
        with torch.device("meta"):  # sizes that the file does not hold ask for no memory
            sketch = make_network(checked)
        weights = {name: x.to(torch.float32) for name, x in tensors.items()}
        sketch.load_state_dict(weights, assign=True)
        network = make_network(checked)
        network.load_state_dict(weights)
        card: dict[str, Any] = parsed(words["card"])
        if not isinstance(card, dict):
            raise TypeError("card: must be an object")
    except (ValueError, KeyError, TypeError, RuntimeError) as error:
        if is_out_of_memory(error):
            raise MemoryError from None
        raise CheckpointError(f"{path}: {' '.join(str(error).split())}") from None
    network.eval()
    return network, card


def read(path: str | Path) -> bytes:
    """Return the bytes of a file.

    Raises
    ------
    CheckpointError
        If it cannot be read.
    """
    try:
        return read_raw(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise CheckpointError(f"{path}: {reason}") from None


def is_there(path: Path) -> bool:
    """Return whether there is such a file.

    Raises
    ------
    CheckpointError
        If it cannot be looked for.
    """
    try:
        return path.exists()
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path}: {getattr(error, 'strerror', None) or error}") from None


def parameter_hash(network: nn.Module) -> str:
    """Return the SHA-256 of all parameters, by name."""
    return _hash({name: x.detach().cpu() for name, x in network.state_dict().items()}, {})


def _hash(tensors: Mapping[str, Tensor], words: Mapping[str, str]) -> str:
    found = hashlib.sha256(json.dumps(sorted(words.items())).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        found.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode())
        if tensor.numel():  # else there is nothing to view
            numbers = tensor.reshape(-1).view(torch.uint8)  # numpy does not have every dtype
            found.update(numbers.numpy().tobytes())
    return found.hexdigest()
