"""Hypothesis strategies of bad files: valid ones with some changes, and malformed texts."""

import copy
import gzip
import io
import json
import re
import struct
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

from streamplace.files.bounded import GZIP
from streamplace.files.npz import read_arrays
from tests.corpus.document import Document
from tests.corpus.malformed_texts import MALFORMED

NESTS = (10, 100, 300, 500, 900, 990, 1000, 2000, 100_000)
RAW = {f"@nest-{depth}@": "[" * depth + "]" * depth for depth in NESTS}
RAW |= {f"@objects-{depth}@": '{"a":' * depth + "1" + "}" * depth for depth in NESTS}
RAW |= {"@digits@": "9" * 5000, "@fraction@": "0." + "1" * 20_000, "@exponent@": "1e" + "9" * 300}
RAW |= {"@twice@": '{"a": 1, "a": 2}', "@nul@": "\x00", "@cut@": '"', "@minus@": "-0"}
"""Placeholder -> text that `json.dumps` would not write."""
NUMBERS = (
    *(-1, 0, 1, 2, -0.0, 0.5, -0.5, 5e-324, 1e-308, 1e-30, 1e-9, 1e9, 1e15, 1e30, 1e300, 1e308),
    *(2**31, 2**53 + 1, 2**63, 2**64, -(2**63), 2**70, 10**400, 10**4000, -(10**400)),
    *(float("nan"), float("inf"), float("-inf"), 1.7976931348623157e308, 3),
)
OTHERS: tuple[Any, ...] = (
    *(None, True, False, "", "x", "1", "1e3", "NaN", [], {}, [[]], [{}], {"a": []}, {"": ""}),
    *("\ud800", "\x00", "a\nb", "\x1b[2J", "\u2028", "\ufeff", "\U0001f600", "n" * 100_000),
    *("__class__", "../../etc/passwd", "$(touch executed)", "-o", "nobody", "d0", "a"),
    *([None], [1], ["a", "a"], ["a"] * 3000, {"comment": 1}, {str(i): i for i in range(300)}),
)
WORDS = re.compile(rb"\"[^\"\n]{1,40}\"|[A-Za-z_][\w.:-]*|[0-9.]+")
JUNK = tuple(
    text.encode()
    for text in (
        *('""', "null", "true", "-1", "0", "1e999", "NaN", "9" * 400, "1.5", "2001-99-99", "\x00"),
        *("[]", "{}", "[[]]", '{"a": 1}', "<a/>", "&a;", "*a", "&a", "<<", "!!int", "-0.0", "inf"),
        *("!!python/object/apply:os.system [echo]", "!!binary x", "!!timestamp x", "none", "-->"),
        *("->", "--", "0x" + "f" * 5000, "1" * 4000, "5e-324", "1979-05-27T07:32:00Z", "\ufeff"),
        *("\u2028", "\U0001f600", "a\nb", "\\", '"', "'", "]]>", "<!--", "/*", "nobody", "__x"),
    )
)
Change = Callable[[st.DrawFn, bytes], bytes]


def _position(draw: st.DrawFn, data: bytes) -> int:
    return draw(st.integers(0, len(data)))


def _cut(draw: st.DrawFn, data: bytes) -> bytes:
    return data[: _position(draw, data)]


def _replace(draw: st.DrawFn, data: bytes) -> bytes:
    at = _position(draw, data)
    return data[:at] + draw(st.binary(max_size=8)) + data[at + draw(st.integers(0, 20)) :]


def _drop_line(draw: st.DrawFn, data: bytes) -> bytes:
    lines = data.split(b"\n")
    del lines[draw(st.integers(0, len(lines) - 1))]
    return b"\n".join(lines)


def _repeat(draw: st.DrawFn, data: bytes) -> bytes:
    at = _position(draw, data)
    part = data[at : at + draw(st.integers(1, 200))]
    return data[:at] + part * draw(st.sampled_from([1, 50])) + data[at:]


def _nest(draw: st.DrawFn, data: bytes) -> bytes:
    at = _position(draw, data)
    opening = draw(st.sampled_from([b"[", b"{", b'{"a":', b"<a>", b"(", b"- ", b"subgraph {"]))
    return data[:at] + opening * draw(st.sampled_from([10, 900, 2000])) + data[at:]


def _zip(draw: st.DrawFn, data: bytes) -> bytes:
    zipped = gzip.compress(data, 1, mtime=0)
    return _replace(draw, zipped) if draw(st.booleans()) else zipped


def _encode(draw: st.DrawFn, data: bytes) -> bytes:
    """Write the text in another encoding, or with other spaces and line ends."""
    old, new = draw(
        st.sampled_from([
            *((b"a", b"\xed\xa0\x80"), (b"a", b"\xc0\xaf"), (b"a", b"\xe4"), (b"a", b"\0")),
            *((b"\n", b"\r"), (b" ", b"\xc2\xa0"), (b"", b"\xef\xbb\xbf")),
        ])
    )  # fmt: skip
    if old:
        return data.replace(old, new)
    name = draw(st.sampled_from(["utf-16", "utf-16-le", "utf-32", "utf-7", "utf-8-sig"]))
    return data.decode(errors="replace").encode(name)


def _word(draw: st.DrawFn, data: bytes) -> bytes:
    """Replace a word by junk or another word, here or everywhere: unknown names, cycles."""
    words = [*WORDS.finditer(data)]
    if not words:
        return data
    word = draw(st.sampled_from(words))
    other = draw(st.sampled_from(JUNK) | st.sampled_from([each.group() for each in words]))
    if draw(st.booleans()):
        return data.replace(word.group(), other)
    return data[: word.start()] + other + data[word.end() :]


def _json(draw: st.DrawFn, data: bytes) -> bytes:
    """Change a value of JSON, or of one of its lines."""
    lines = data.split(b"\n") if data.startswith(b"{") and b"}\n{" in data else [data]
    number = draw(st.integers(0, len(lines) - 1))
    try:
        lines[number] = json_text(_altered(draw, json.loads(lines[number]))).encode()
    except (ValueError, RecursionError):  # no JSON, as an earlier change has left it
        return _word(draw, data)
    return b"\n".join(lines)


def json_text(value: Any) -> str:
    """Return a value as JSON text, with the placeholders of `RAW` replaced by their texts."""
    text = json.dumps(value)
    for mark, raw in RAW.items():
        if mark in text:
            text = text.replace(json.dumps(mark), raw)
    return text


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the container and the key of every nested value."""
    for key in [*value] if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])


def _altered(draw: st.DrawFn, value: Any) -> Any:
    """Return a JSON value with one change; `holder` holds it, so that it may be replaced."""
    holder = [copy.deepcopy(value)]
    places = [*_places(holder)]
    of_kind: dict[str, list[tuple[Any, Any]]] = {"any": places}
    for one, key in places:
        of_kind.setdefault(type(one[key]).__name__, []).append((one, key))
    of_kind["number"] = [*of_kind.get("int", []), *of_kind.get("float", [])]
    wanted, change = draw(st.sampled_from(ALTERATIONS))
    if some := of_kind.get(wanted):
        change(draw, draw(st.sampled_from(some)), some)
    return holder[0]


def _number(draw: st.DrawFn, place: Any, places: Any) -> None:
    """Replace a number, or every number of the same key."""
    new, everywhere = draw(st.sampled_from(NUMBERS)), draw(st.booleans())
    for one, key in places:
        if key == place[1] and (everywhere or one is place[0]):
            one[key] = new


def _other(draw: st.DrawFn, place: Any, places: Any) -> None:
    new = draw(st.sampled_from([*NUMBERS, *OTHERS, *RAW]))
    place[0][place[1]] = copy.deepcopy(new)


def _copied(draw: st.DrawFn, place: Any, places: Any) -> None:
    """Copy one value over another: cycles, duplicates, unknown names."""
    one, key = draw(st.sampled_from(places))
    place[0][place[1]] = copy.deepcopy(one[key])


def _removed(draw: st.DrawFn, place: Any, places: Any) -> None:
    del place[0][place[1]]
    if not place[0] and place is places[0]:
        place[0].append(None)  # the holder


def _renamed(draw: st.DrawFn, place: Any, places: Any) -> None:
    value = place[0][place[1]]
    if value:
        key = draw(st.sampled_from([*value]))
        new = draw(st.sampled_from(["", "x", "comment", "\ud800", f"{key}s", *value]))
        value[new] = value.pop(key)


def _lengthened(draw: st.DrawFn, place: Any, places: Any) -> None:
    value = place[0][place[1]]
    if value:
        value += [copy.deepcopy(draw(st.sampled_from(value)))] * draw(st.sampled_from([1, 5, 200]))


def _reordered(draw: st.DrawFn, place: Any, places: Any) -> None:
    place[0][place[1]] = draw(st.permutations(place[0][place[1]]))


ALTERATIONS: tuple[tuple[str, Callable[[st.DrawFn, Any, Any], None]], ...] = (
    *(("number", _number), ("number", _number), ("any", _other), ("any", _other)),
    *(("str", _copied), ("str", _copied), ("any", _copied), ("any", _removed)),
    *(("dict", _renamed), ("list", _lengthened), ("list", _reordered)),
)
"""Kind of the values, and a change of one of them."""

BYTES: tuple[Change, ...] = (_cut, _replace, _drop_line, _repeat, _nest, _zip)
TEXT: tuple[Change, ...] = (*BYTES, _encode, *(_word,) * 4, *(_json,) * 8)


def _unless_broken(change: Change) -> Change:
    """Return a change that leaves files alone that an earlier one has broken."""

    def changed(draw: st.DrawFn, data: bytes) -> bytes:
        try:
            return change(draw, data)
        except (ValueError, KeyError, TypeError, OverflowError, zipfile.BadZipFile):
            return data

    return changed


def _array(draw: st.DrawFn, old: Any) -> Any:
    """Return an array with another number, shape or type."""
    new = old.copy()
    numbers = (0, 1, 2, 127) if old.dtype.kind != "f" else (-1.0, np.nan, np.inf, 1e308, 5e-324)
    if new.size and draw(st.booleans()):
        which = draw(st.integers(0, new.size - 1)) if draw(st.booleans()) else slice(None)
        new.reshape(-1)[which] = draw(st.sampled_from(numbers))
        return new
    types = ("f4", "i8", "U5", "?", "M8[s]", "c16", ">f8", "u1")
    return draw(
        st.sampled_from([old[:-1], old[:0], old[None], np.concatenate([old, old])])
        | st.sampled_from(types).map(lambda name: np.zeros(old.shape, name))
        | st.just(np.array([print], dtype=object))
    )


def _arrays(draw: st.DrawFn, data: bytes) -> bytes:
    """Change, exchange, remove or add an array of an .npz file."""
    arrays: dict[str, Any] = {name: array.copy() for name, array in read_arrays(data).items()}
    one, other = (draw(st.sampled_from(sorted(arrays))) for _ in range(2))
    what = draw(st.sampled_from(["array", "array", "header", "exchange", "remove", "add"]))
    if what == "array":
        arrays[one] = _array(draw, arrays[one])
    elif what == "header":
        text = json_text(_altered(draw, json.loads(arrays["header"].tobytes())))
        arrays["header"] = np.frombuffer(text.encode(), np.uint8)
    elif what == "exchange":
        arrays[one], arrays[other] = arrays[other], arrays[one]
    elif what == "remove":
        del arrays[one]
    else:
        arrays["../../escaped"] = arrays[one]
    file = io.BytesIO()
    (np.savez_compressed if draw(st.booleans()) else np.savez)(file, **arrays)
    return file.getvalue()


def _false_member(draw: st.DrawFn, data: bytes) -> bytes:
    """Replace an array by one whose header claims another shape or type, or by a large member."""
    types = ("'<f8'", "'|O'", "'<f2'", "'|V0'", "'|S1000000000'", "'<M8[s]'", "[('a', '<f8')]")
    shapes = ("(10,)", "(1000000000000,)", "(-1,)", "(9223372036854775807, 9)", "()")
    parts = (draw(st.sampled_from(types)), draw(st.sampled_from(shapes)))
    text = "{{'descr': {}, 'fortran_order': False, 'shape': {}, }}".format(*parts)
    text = draw(st.just(text) | st.sampled_from(["(" * 9000, "[1if 1else 2]", "{'a': 1}"]))
    member = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(file, "w") as new:
        replaced = draw(st.sampled_from(old.namelist()))
        member = draw(st.sampled_from([member, bytes(2**24)]))
        for name in old.namelist():
            content = member if name == replaced else old.read(name)
            new.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return file.getvalue()


def _tensors(draw: st.DrawFn, data: bytes) -> bytes:
    """Change a tensor or the metadata of a .safetensors file, which gets a correct hash."""
    import torch  # noqa: PLC0415 - heavy

    from streamplace.learning.policy.weights import pack_tensors, unpack_tensors  # noqa: PLC0415

    try:
        tensors, metadata = unpack_tensors(data, "file")
    except Exception:  # an earlier change has broken it
        return data
    one, other = (draw(st.sampled_from(sorted(tensors))) for _ in range(2))
    what = draw(st.sampled_from(["tensor", "metadata", "metadata", "exchange", "remove", "add"]))
    if what == "tensor":
        value = tensors[one]
        types = st.sampled_from([torch.int8, torch.float16, torch.float64, torch.bool])
        filled = st.sampled_from([0.0, -1.0, float("nan"), float("inf"), 3e38])
        tensors[one] = draw(
            st.sampled_from([value[None], value[:0] if value.dim() else value])
            | types.map(value.to)
            | filled.map(lambda number: torch.full(value.shape, number))
        )
    elif what == "metadata":
        key = draw(st.sampled_from(sorted(metadata)))
        try:
            metadata[key] = json_text(_altered(draw, json.loads(metadata[key])))
        except (ValueError, RecursionError):  # it is not JSON
            metadata[key] = draw(st.sampled_from(["", "1", "x", "null", "encoder-decoder"]))
    elif what == "exchange":
        tensors[one], tensors[other] = tensors[other], tensors[one]
    elif what == "remove":
        del tensors[one]
    else:
        tensors["optimiser.exp_avg.nobody"] = tensors[one]
    try:
        return pack_tensors(tensors, metadata)
    except Exception:  # no file can hold these metadata
        return data


def _tensor_header(draw: st.DrawFn, data: bytes) -> bytes:
    """Change the header of a .safetensors file, or claim another length of it."""
    length = int.from_bytes(data[:8], "little")
    if draw(st.booleans()):
        claimed = draw(st.sampled_from([0, 1, 7, len(data), 2**31, 2**63, 2**64 - 1, 100_000_001]))
        return struct.pack("<Q", claimed) + data[8:]
    header = json_text(_altered(draw, json.loads(data[8 : 8 + length]))).encode()
    return struct.pack("<Q", len(header)) + header + data[8 + length :]


def _model(draw: st.DrawFn, data: bytes) -> bytes:
    """Change, remove or repeat a field of an ONNX model."""
    from google.protobuf.message import DecodeError  # noqa: PLC0415 - an extra
    from onnx import load_model_from_string  # noqa: PLC0415

    try:
        model = load_model_from_string(data)
    except DecodeError:
        return data
    message, field = draw(st.sampled_from([*_fields(model)]))
    value = getattr(message, field.name)
    several = hasattr(value, "append") or hasattr(value, "add")
    texts = ("", "x", "conv_out", "y", "w", "If", "Conv", "Loop", "nobody", "a\nb", "ai.onnx")
    act = draw(st.sampled_from(["clear", "change", "change"]))
    if act == "change" and several:
        which = draw(st.integers(0, len(value) - 1))
        if draw(st.booleans()):
            del value[which]
        else:
            value.extend([value[which]])
    elif act == "change" and field.message_type is None:
        other = st.binary(max_size=8) if isinstance(value, bytes) else st.sampled_from(NUMBERS)
        setattr(
            message, field.name, draw(st.sampled_from(texts) if isinstance(value, str) else other)
        )
    else:
        message.ClearField(field.name)
    return bytes(model.SerializeToString(deterministic=True))


def _fields(message: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every message in a model with each of its fields that are set."""
    for field, value in message.ListFields():
        yield message, field
        if field.message_type is not None:
            for inner in value if hasattr(value, "append") or hasattr(value, "add") else (value,):
                yield from _fields(inner)


CHANGES: dict[str, tuple[Change, ...]] = {
    ".npz": (*BYTES, *(_unless_broken(_arrays),) * 8, *(_unless_broken(_false_member),) * 2),
    ".safetensors": (*BYTES, *(_tensors,) * 6, _unless_broken(_tensor_header)),
    ".onnx": (*BYTES, *(_unless_broken(_model),) * 8),
}
"""Ending of a file -> its changes; those of other files are `TEXT`."""


@st.composite
def bad_files(draw: st.DrawFn, documents: tuple[Document, ...]) -> Document:
    """Return a valid file with one to three changes, or, one time in twenty, a malformed text."""
    one = draw(st.sampled_from(documents))
    if draw(st.integers(0, 19)) == 0:
        text = draw(st.sampled_from(MALFORMED))
        return Document(one.name, text.encode(errors="surrogatepass"))
    inside = one.data[:2] == GZIP
    data = gzip.decompress(one.data) if inside else one.data
    changes = next((some for ending, some in CHANGES.items() if one.name.endswith(ending)), TEXT)
    for _ in range(draw(st.integers(1, 3))):
        data = draw(st.sampled_from(changes))(draw, data)
    return Document(one.name, gzip.compress(data, 1, mtime=0) if inside else data)
