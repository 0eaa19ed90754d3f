"""Safetensors files with a hash of their content, and weights files among them, without torch.

They are read and summarised without torch; `weights` makes policies of them.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import safetensors
from numpy.typing import NDArray

from streamplace.errors import CheckpointError, Fault, UsageError
from streamplace.files.bounded import read_failure, read_raw
from streamplace.files.own import kind_of
from streamplace.learning.policy.registry import PolicySection, policy_section
from streamplace.util.out_of_memory import is_out_of_memory

METADATA_KEY = "__metadata__"
"""The key of the metadata in a safetensors header."""

FLOATS = ("float16", "float32", "float64")
"""The floating-point types that numpy has."""

TYPES = {
    "BOOL": "bool",
    "U8": "uint8",
    "U16": "uint16",
    "U32": "uint32",
    "U64": "uint64",
    "I8": "int8",
    "I16": "int16",
    "I32": "int32",
    "I64": "int64",
    "F16": "float16",
    "F32": "float32",
    "F64": "float64",
    "BF16": "bfloat16",
    "C64": "complex64",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
}
"""Name of a type in files -> its name in torch, which hashes contain."""

FORMAT = "streamplace-policy"
VERSION = "1"
TRAINING_STATE = ("optimiser.", "memory.")  # prefixes of checkpoint tensors, not parameters


class StoredTensor(NamedTuple):
    """A tensor as a file has it: the name of its type in torch, its shape and its bytes."""

    type: str
    shape: tuple[int, ...]
    data: bytes | bytearray

    @property
    def numbers(self) -> int:
        """The number of its elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    def single(self) -> NDArray[np.float32]:
        """Return its numbers in 32-bit floating point.

        Raises
        ------
        ValueError
            If its type is not one of `FLOATS`.
        """
        if self.type not in FLOATS:
            raise ValueError(f"numbers of the type {self.type} need another library")
        stored = np.frombuffer(self.data, np.dtype(self.type)).reshape(self.shape)
        return stored.astype(np.float32)


def stored_tensors(data: bytes, where: str) -> tuple[dict[str, StoredTensor], dict[str, str]]:
    """Return the tensors and metadata of a file that `weights.pack_tensors` has written.

    Raises
    ------
    CheckpointError
        If the data is not such a file, or was modified. No content of the file is executed.
    """
    try:
        tensors = {
            name: StoredTensor(TYPES[entry["dtype"]], tuple(entry["shape"]), entry["data"])
            for name, entry in safetensors.deserialize(data)  # type: ignore[no-untyped-call]
        }
        length = int.from_bytes(data[:8], "little")
        metadata = dict(json.loads(data[8 : 8 + length])[METADATA_KEY])
    except (safetensors.SafetensorError, ValueError, KeyError, TypeError, RuntimeError) as error:
        if is_out_of_memory(error):
            raise MemoryError from None  # the file may be valid
        message = f"not a safetensors file of streamplace, or a damaged one ({error})"
        with suppress(ValueError, RecursionError):  # it may be JSON
            if kind := kind_of(json.loads(data)):
                message = f"is {kind}; expected weights of a policy"
        raise CheckpointError(Fault(message, where)) from None
    stored_hash = metadata.pop("sha256", None)
    if stored_hash != hash_of(tensors, metadata):
        raise CheckpointError(Fault("damaged: the content does not match its SHA-256", where))
    return tensors, metadata


def hash_of(tensors: Mapping[str, StoredTensor], metadata: Mapping[str, str]) -> str:
    """Return the SHA-256 of named tensors and metadata, in hexadecimal."""
    hasher = hashlib.sha256(json.dumps(sorted(metadata.items())).encode())
    for name in sorted(tensors):
        kind, shape, data = tensors[name]
        hasher.update(json.dumps([name, f"torch.{kind}", list(shape)]).encode())
        hasher.update(data)
    return hasher.hexdigest()


def entry_value(text: str) -> Any:
    """Return the value of a metadata entry that contains JSON.

    Raises
    ------
    ValueError
        If the text is not JSON, contains non-finite numbers, or is nested too deeply.
    """
    try:
        value = json.loads(text)
        json.dumps(value, allow_nan=False)
    except RecursionError:
        raise ValueError("JSON nested too deeply") from None
    return value


def read(path: str | Path) -> bytes:
    """Return the bytes of a file.

    Raises
    ------
    CheckpointError
        If the file cannot be read.
    """
    try:
        data = read_raw(path)
    except (OSError, ValueError) as error:
        raise CheckpointError(Fault(read_failure(error), str(path))) from None
    if not data:
        raise CheckpointError(Fault("is empty", str(path)))
    return data


def exists(path: Path) -> bool:
    """Return whether a file exists.

    Raises
    ------
    CheckpointError
        If the path cannot be examined.
    """
    try:
        return path.exists()
    except (OSError, ValueError) as error:
        raise CheckpointError(Fault(read_failure(error), str(path))) from None


@dataclass(frozen=True, eq=False)
class WeightsFile:
    """The content of a weights file.

    Attributes
    ----------
    tensors
        The parameters by name.
    card
        Facts about their origin.
    """

    section: PolicySection
    tensors: Mapping[str, StoredTensor]
    card: Mapping[str, Any]


def read_weights(path: str | Path) -> WeightsFile:
    """Read a weights file.

    The file names the kind of its policy, which is built in or registered by an installed package.

    Raises
    ------
    CheckpointError
        If the file is not a weights file, is damaged, or has another version.
    """
    if os.path.isdir(path):
        weights = Path(path) / "policy.safetensors"
        fault = f"is a folder; weights are in a file such as {weights}"
        raise CheckpointError(Fault(fault, str(path)))
    tensors, metadata = stored_tensors(read(path), str(path))
    if metadata.get("format") != FORMAT or metadata.get("version") != VERSION:
        is_checkpoint = metadata.get("format") == "streamplace-checkpoint"
        hint = "; it is a checkpoint, use policy.safetensors of the same run" * is_checkpoint
        raise CheckpointError(Fault(f"not a policy file of version {VERSION}{hint}", str(path)))
    try:
        sizes = entry_value(metadata["sizes"])
        section = policy_section({"kind": metadata["kind"], "sizes": sizes})
        card = entry_value(metadata["card"])
        if not isinstance(card, dict):
            raise TypeError("card: must be an object")
    except KeyError as error:
        raise CheckpointError(Fault(f"missing field {error}", str(path))) from None
    except (UsageError, ValueError, TypeError) as error:
        raise CheckpointError(Fault(" ".join(str(error).split()), str(path))) from None
    return WeightsFile(section, tensors, card)


def summary(path: str | Path) -> dict[str, Any]:
    """Check a weights file or a checkpoint, and return facts about it.

    Raises
    ------
    CheckpointError
        If the file is neither of these, or is damaged.
    """
    tensors, metadata = stored_tensors(read(path), str(path))
    weights = sum(x.numbers for name, x in tensors.items() if not name.startswith(TRAINING_STATE))
    try:
        facts: dict[str, Any] = {
            "kind": metadata["format"].removeprefix("streamplace-"),
            "weights": weights,
        }
        if "card" in metadata:
            sizes = entry_value(metadata["sizes"])
            facts |= {"network": metadata["kind"], "sizes": sizes} | entry_value(metadata["card"])
        else:
            run = entry_value(metadata["run"])
            facts |= (
                entry_value(metadata["position"]) | {"problems": run["problems"]} | run["config"]
            )
    except KeyError as error:
        raise CheckpointError(Fault(f"missing field {error}", str(path))) from None
    except (TypeError, ValueError) as error:
        fault = f"not a streamplace policy or checkpoint: {error}"
        raise CheckpointError(Fault(fault, str(path))) from None
    return facts
