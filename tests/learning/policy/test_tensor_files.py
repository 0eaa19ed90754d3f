"""Policy files that the policy placer refuses."""

import json
import os
from pathlib import Path

import pytest

from streamplace.errors import CheckpointError, StreamplaceError
from streamplace.learning.policy.tensor_files import FORMAT, VERSION
from streamplace.learning.policy.weights import pack_tensors, read_policy
from tests.support.errors import fault_of
from tests.support.placements import solve
from tests.support.policies import (
    cluster_of,
    layered_problem,
    policy_of,
)

SCORER = "device-scorer"


def one_line(error: StreamplaceError, file: Path) -> str:
    """Require an error to be one printable line; return the part after the file's name."""
    assert str(error).isprintable()
    return fault_of(error, file)


def message_of(file: Path, data: bytes | None = None) -> str:
    """Return the message of the error that a policy file causes."""
    if data is not None:
        file.write_bytes(data)
    with pytest.raises(CheckpointError) as caught:
        solve(layered_problem(6, cluster_of(3)), f"policy:file={file}")
    return one_line(caught.value, file)


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    """A pipe can be read only once; a second read once waited forever."""
    os.mkfifo(tmp_path / "pipe")
    assert message_of(tmp_path / "pipe") == "must be a regular file (got a pipe)"


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    missing = tmp_path / "missing.safetensors"
    assert message_of(missing) == "no such file"
    assert message_of(tmp_path / "empty.safetensors", b"") == "is empty"
    weights = tmp_path / "policy.safetensors"
    assert message_of(tmp_path) == f"is a folder; weights are in a file such as {weights}"
    invalid = tmp_path / "nul\0.safetensors"
    with pytest.raises(CheckpointError, match="null"):
        read_policy(invalid)


@pytest.mark.parametrize("data", [b"{}", b"\0" * 100, b"\xff" * 100, b"hello\n" * 50])
def test_files_that_are_not_weights_are_rejected(data: bytes, tmp_path: Path) -> None:
    assert "not a safetensors file of streamplace" in message_of(tmp_path / "x.safetensors", data)


METADATA = {
    "format": FORMAT,
    "version": VERSION,
    "kind": SCORER,
    "sizes": json.dumps({"hidden": 16, "hops": 2}),
    "card": "{}",
}


def without(key: str) -> dict[str, str]:
    return {k: v for k, v in METADATA.items() if k != key}


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        (
            METADATA | {"format": "streamplace-checkpoint"},
            "not a policy file of version 1; it is a checkpoint, use policy.safetensors of the",
        ),
        (METADATA | {"version": "2"}, "not a policy file of version 1"),
        (without("format"), "not a policy file of version 1"),
        (without("kind"), "kind"),
        (without("sizes"), "sizes"),
        (without("card"), "card"),
        (METADATA | {"kind": "oracle"}, "oracle"),
        (METADATA | {"kind": "encoder-decoder"}, "hidden"),
        (METADATA | {"sizes": '{"hidden": 24, "hops": 2}'}, "size mismatch"),
        (METADATA | {"sizes": '{"hidden": 16, "hops": 3}'}, "Missing key"),
        (METADATA | {"sizes": '{"hidden": 16, "hops": 1}'}, "Unexpected key"),
        (METADATA | {"sizes": '{"hidden": "16", "hops": 2}'}, "hidden"),
        (METADATA | {"sizes": '{"hidden": 0, "hops": 2}'}, "hidden"),
        (METADATA | {"sizes": '{"hidden": 100000000, "hops": 2}'}, "hidden"),
        (METADATA | {"sizes": '{"hidden": 16, "hops": 2, "orders": [7]}'}, "orders"),
        (METADATA | {"sizes": '{"hidden": 16, "hops": 2, "orders": ["bsf"]}'}, "orders"),
        (METADATA | {"sizes": '{"hidden": 16, "hops": 2, "orders": []}'}, "orders"),
        (METADATA | {"sizes": "[]"}, "sizes"),
        (METADATA | {"sizes": "{"}, ""),
        (METADATA | {"card": "nope"}, ""),
    ],
)
def test_an_invalid_file_with_a_correct_hash_is_rejected(
    metadata: dict[str, str], message: str, tmp_path: Path
) -> None:
    """A correct hash does not make a valid policy."""
    data = pack_tensors(policy_of(SCORER).state_dict(), metadata)
    assert message in message_of(tmp_path / "x.safetensors", data)


def test_invalid_tensors_are_rejected(tmp_path: Path) -> None:
    """Tensors may be missing or have a different shape."""
    weights = dict(policy_of(SCORER).state_dict())
    last = weights.pop("score.bias")
    assert "score.bias" in message_of(tmp_path / "few.safetensors", pack_tensors(weights, METADATA))
    weights["score.bias"] = last.repeat(2)
    assert "score.bias" in message_of(
        tmp_path / "shape.safetensors", pack_tensors(weights, METADATA)
    )
