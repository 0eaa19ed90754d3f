"""Malicious files that create a folder if their content is executed.

Each has an unsafe reader that does execute it, so that a test can show that the file is harmful.
"""

import base64
import gzip
import importlib
import io
import json
import os
import pickle
import sys
import tomllib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import torch
import yaml

from streamplace.learning.policy.weights import pack_tensors, unpack_tensors

CREATED_FOLDER = "executed"  # the folder that an executed payload creates in the current folder
MODULE = "evil_module"
SOURCE = f"__import__('os').mkdir({CREATED_FOLDER!r})"
TAG = f"!!python/object/apply:os.mkdir [{CREATED_FOLDER!r}]"


class UnpickledFolder:
    """An object that creates a folder when it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (CREATED_FOLDER,)


@dataclass(frozen=True)
class Payload:
    """Bytes that execute code when `unsafe_read` reads them."""

    name: str
    data: bytes
    unsafe_read: Callable[[bytes], object]


def payloads(
    policy: bytes, graph: Path, config: dict[str, Any], placement: dict[str, Any]
) -> list[Payload]:
    """Return every kind of payload, some of them inside valid files.

    Parameters
    ----------
    policy
        The bytes of a valid weights file.
    graph
        The path of a valid .npz graph.
    config, placement
        A valid training config, and a valid placement.
    """
    state = {"network.read.weight": UnpickledFolder()}
    pickles = [
        Payload(f"pickle of protocol {n}", pickle.dumps(state, n), pickle.loads)
        for n in (0, 2, pickle.HIGHEST_PROTOCOL)
    ]
    imitation = {"algorithm": "imitation", "epochs": 1, "teacher": f"{MODULE}:Evil"}
    taught = {**config, "stage": [imitation]}
    placed = {**placement, "placer": f"{MODULE}:Evil"}
    return [
        *pickles,
        Payload("gzip of a pickle", gzip.compress(pickle.dumps(state)), _gunzipped),
        Payload("torch.save", _by_torch(state, zipped=True), _torch_loaded),
        Payload("torch.save, format before 1.6", _by_torch(state, zipped=False), _torch_loaded),
        Payload("joblib.dump", _by_joblib(state), lambda data: joblib.load(io.BytesIO(data))),
        Payload(".npy of objects", _npy(), _numpy_loaded),
        Payload(".npz of objects", _npz(graph, ()), _numpy_loaded),
        Payload(".npz of a graph, names are objects", _npz(graph, ("names",)), _numpy_loaded),
        Payload(".npz of a graph, header of objects", _npz(graph, ("header",)), _numpy_loaded),
        Payload("safetensors, a pickle in its metadata", _in_metadata(policy), _metadata_unpickled),
        Payload("safetensors, a pickle for a tensor", _as_tensor(policy), _tensor_unpickled),
        Payload("YAML with a tag", f"a: {TAG}\n".encode(), yaml.unsafe_load),
        Payload("JSON of Python", _json({"a": SOURCE}), _evaluated),
        Payload("Python", SOURCE.encode(), eval),
        Payload("config naming a module", _json(taught), _json_imported),
        Payload("placement naming a module", _json(placed), _json_imported),
        Payload("TOML naming a module", _toml(), _toml_imported),
    ]


def is_harmful(payload: Payload) -> bool:
    """Return whether the payload's unsafe reader executes it.

    The current folder must contain the module of `write_module`.
    """
    with suppress(TypeError, ValueError, AttributeError, OSError):  # raised after the execution
        payload.unsafe_read(payload.data)
    return was_executed()


def was_executed() -> bool:
    """Return whether a payload was executed, and remove the folder that it created."""
    sys.modules.pop(MODULE, None)
    executed = Path(CREATED_FOLDER).is_dir()
    if executed:
        Path(CREATED_FOLDER).rmdir()
    return executed


def write_module(folder: Path) -> None:
    """Write the module that some payloads import by name."""
    (folder / f"{MODULE}.py").write_text(f"{SOURCE}\nEvil = object\n")


def _by_torch(state: object, zipped: bool) -> bytes:
    file = io.BytesIO()
    torch.save(state, file, _use_new_zipfile_serialization=zipped)
    return file.getvalue()


def _by_joblib(state: object) -> bytes:
    file = io.BytesIO()
    joblib.dump(state, file, compress=3)
    return file.getvalue()


def _npy() -> bytes:
    file = io.BytesIO()
    np.save(file, np.array([UnpickledFolder()] * 3, dtype=object), allow_pickle=True)
    return file.getvalue()


def _npz(graph: Path, columns: tuple[str, ...]) -> bytes:
    """Return a graph in which these columns, or all if there are none, are arrays of objects."""
    with np.load(graph, allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    objects = {name: np.array([UnpickledFolder()] * 3, dtype=object) for name in columns or arrays}
    file = io.BytesIO()
    np.savez(file, **{**arrays, **objects})
    return file.getvalue()


def _in_metadata(policy: bytes) -> bytes:
    tensors, metadata = unpack_tensors(policy, "")
    text = base64.b64encode(pickle.dumps(UnpickledFolder())).decode()
    return pack_tensors(
        tensors, {**metadata, "__reduce__": text, "card": json.dumps({"pickle": text})}
    )


def _as_tensor(policy: bytes) -> bytes:
    tensors, metadata = unpack_tensors(policy, "")
    inside = torch.frombuffer(bytearray(pickle.dumps(UnpickledFolder())), dtype=torch.uint8)
    return pack_tensors({**tensors, "pickle": inside}, metadata)


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


def _toml() -> bytes:
    return f'[[stage]]\nalgorithm = "imitation"\nteacher = "{MODULE}:Evil"\n'.encode()


def _gunzipped(data: bytes) -> object:
    return pickle.loads(gzip.decompress(data))


def _torch_loaded(data: bytes) -> object:
    return torch.load(io.BytesIO(data), weights_only=False)


def _numpy_loaded(data: bytes) -> object:
    arrays = np.load(io.BytesIO(data), allow_pickle=True)
    return {name: arrays[name] for name in getattr(arrays, "files", ())}


def _metadata_unpickled(data: bytes) -> object:
    _, metadata = unpack_tensors(data, "")
    return pickle.loads(base64.b64decode(metadata["__reduce__"]))


def _tensor_unpickled(data: bytes) -> object:
    return pickle.loads(bytes(unpack_tensors(data, "")[0]["pickle"].tolist()))


def _evaluated(data: bytes) -> object:
    return eval(json.loads(data)["a"])


def _json_imported(data: bytes) -> object:
    return _imported(json.loads(data))


def _toml_imported(data: bytes) -> object:
    return _imported(tomllib.loads(data.decode()))


def _imported(value: dict[str, Any]) -> object:
    placer: str = value["stage"][0]["teacher"] if "stage" in value else value["placer"]
    sys.path.insert(0, "")
    importlib.invalidate_caches()
    try:
        return importlib.import_module(placer.partition(":")[0])
    finally:
        sys.path.remove("")
