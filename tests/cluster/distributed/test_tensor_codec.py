"""Values as messages: round trips, and what strangers may send."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as st_np

from penstock.cluster.distributed import frames, tensor_codec
from penstock.foundation.base import errors
from penstock.foundation.formats import cluster_messages as messages

DTYPES = sorted(tensor_codec._DTYPES, key=str)
SHAPES = st_np.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
LIMITS = frames.Limits(1 << 20, 1 << 20)


@st.composite
def tensors(draw: st.DrawFn) -> torch.Tensor:
    dtype = draw(st.sampled_from(DTYPES))
    shape = draw(SHAPES)
    size = int(np.prod(shape)) * dtype.itemsize
    data = bytearray(draw(st.binary(min_size=size, max_size=size)))
    if dtype is torch.bool:
        data = bytearray(b & 1 for b in data)
    flat = torch.frombuffer(data, dtype=torch.uint8) if size else torch.empty(0, dtype=torch.uint8)
    made = flat.clone().view(dtype).reshape(shape)
    return made.transpose(0, -1) if made.dim() > 1 and draw(st.booleans()) else made


@st.composite
def string_arrays(draw: st.DrawFn) -> np.ndarray:
    shape = draw(SHAPES)
    size = int(np.prod(shape))
    made = np.empty(size, dtype=object)
    made[:] = draw(st.lists(st.binary(max_size=20), min_size=size, max_size=size))
    return made.reshape(shape)


def _bits(value: torch.Tensor) -> bytes:
    return tensor_codec.content_of(value)


@given(tensors())
def test_tensors_come_back_bit_by_bit(value: torch.Tensor) -> None:
    data = tensor_codec.encode(value).SerializeToString()
    found = tensor_codec.decode(messages.TensorValue.FromString(data))
    assert found.dtype == value.dtype and found.shape == value.shape
    assert _bits(found) == _bits(value)


@given(string_arrays())
def test_strings_come_back(value: np.ndarray) -> None:
    found = tensor_codec.decode(tensor_codec.encode(value))
    assert found.dtype == object and found.shape == value.shape
    assert found.tolist() == value.tolist()


@given(st.binary(max_size=50), st.one_of(st.none(), tensors(), string_arrays()))
def test_frames_come_back(header: bytes, value: torch.Tensor | np.ndarray | None) -> None:
    data, tensor = frames.pack(header, value)
    prefix = frames.parse_prefix(data, LIMITS)
    head = frames.parse_head(prefix, data)
    assert prefix.head_bytes == len(data) and head.header == header
    found = frames.value_of(head, bytearray() if tensor is None else tensor.clone())
    if isinstance(value, torch.Tensor):
        assert found.dtype == value.dtype and found.shape == value.shape
        assert _bits(found) == _bits(value)
    elif value is None:
        assert found is None
    else:
        assert found.shape == value.shape and found.tolist() == value.tolist()


@pytest.mark.parametrize(
    ("value", "dtype", "items"),
    [
        (True, torch.bool, True),
        (7, torch.int64, 7),
        (0.1, torch.float64, 0.1),
        (1 + 2j, torch.complex128, 1 + 2j),
        (np.float32(0.1), torch.float32, float(np.float32(0.1))),
        (np.array([1, 2], dtype=ml_dtypes.bfloat16), torch.bfloat16, [1.0, 2.0]),
        (np.array([[1], [2]], dtype=np.uint16)[::-1], torch.uint16, [[2], [1]]),
        (torch.tensor([1 + 2j]).conj(), torch.complex64, [1 - 2j]),
        (torch.arange(3.0, requires_grad=True), torch.float32, [0, 1, 2]),
    ],
)
def test_other_values(value: object, dtype: torch.dtype, items: object) -> None:
    found = tensor_codec.decode(tensor_codec.encode(value))
    assert found.dtype == dtype and found.tolist() == items


def test_text_is_a_string_tensor() -> None:
    assert tensor_codec.decode(tensor_codec.encode("ä"))[()] == "ä".encode()
    assert tensor_codec.decode(tensor_codec.encode(np.array(["a", "b"]))).tolist() == [b"a", b"b"]


def test_what_was_decoded_has_memory_of_its_own() -> None:
    message = tensor_codec.encode(torch.zeros(3))
    tensor_codec.decode(message).add_(1)
    assert tensor_codec.decode(message).sum() == 0


@pytest.mark.parametrize("value", [object(), None, [1], torch.ones(2).to_sparse(), np.array([{}])])
def test_values_that_are_no_dense_tensors(value: object) -> None:
    assert not tensor_codec.is_dense(value)
    with pytest.raises(errors.InvalidArgumentError, match="sent"):
        tensor_codec.encode(value)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"dtype": 1, "dims": [2], "content": b"1234"}, "8 bytes; found 4"),
        ({"dtype": 1, "dims": [-1], "content": b"1234"}, "negative"),
        ({"dtype": 1, "dims": [1 << 40, 1 << 40], "content": b""}, "too large"),
        ({"dtype": 1, "dims": [0, 1 << 40, 1 << 40], "content": b""}, "too large"),
        ({"dtype": 1, "dims": [1] * 65, "content": b"1234"}, "65 dims"),
        ({"dtype": 20, "dims": [1], "content": b"1"}, "type 20"),
        ({"dtype": 99, "dims": [1], "content": b"1"}, "type 99"),
        ({"dtype": -5}, "type -5"),
        ({"dtype": 1, "dims": [], "content": b"1234", "strings": [b""]}, "1 strings"),
        ({"dtype": 7, "dims": [2], "strings": [b""]}, "has 1 elements"),
        ({"dtype": 7, "dims": [0], "content": b"1"}, "numbers"),
        ({"dtype": 10, "dims": [2], "content": b"\1\2"}, "allowed are 0 and 1"),
    ],
)
def test_malformed_messages(message: dict[str, object], text: str) -> None:
    with pytest.raises(errors.InvalidArgumentError, match=text):
        tensor_codec.decode(messages.TensorValue(**message))


@given(
    st.integers(-(2**31), 2**31 - 1) | st.integers(0, 24),
    st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 3), max_size=5),
    st.binary(max_size=64),
    st.lists(st.binary(max_size=3), max_size=4),
)
@settings(max_examples=300)
def test_any_message_gives_a_value_or_an_error(
    dtype: int, dims: list[int], content: bytes, strings: list[bytes]
) -> None:
    message = messages.TensorValue(dtype=dtype, dims=dims, content=content, strings=strings)
    try:
        found = tensor_codec.decode(message)
    except errors.InvalidArgumentError:
        return
    assert list(found.shape) == dims


@pytest.mark.long
@given(st.binary(max_size=200), st.one_of(st.none(), tensors(), string_arrays()), st.data())
@settings(max_examples=300)
def test_any_frame_gives_a_value_or_an_error(
    noise: bytes, value: torch.Tensor | np.ndarray | None, data: st.DataObject
) -> None:
    good = bytearray(frames.pack(b"header", value)[0])
    for _ in range(data.draw(st.integers(0, 3))):
        good[data.draw(st.integers(0, len(good) - 1))] ^= data.draw(st.integers(1, 255))
    for attempt in (noise, bytes(good)):
        try:
            prefix = frames.parse_prefix(attempt, LIMITS)
            padded = attempt + bytes(max(0, prefix.head_bytes - len(attempt)))
            head = frames.parse_head(prefix, padded)
            size = head.tensor_bytes
            frames.value_of(head, bytearray((noise + bytes(size))[:size]))
        except errors.InvalidArgumentError:
            continue


def test_limits_of_frames() -> None:
    head, _ = frames.pack(b"x" * 100, torch.ones(100))
    for limits, text in (
        (frames.Limits(99, 400), "100 bytes; allowed are 99.*PENSTOCK_MAX_MESSAGE_BYTES"),
        (frames.Limits(100, 399), "400 bytes; allowed are 399.*PENSTOCK_MAX_TENSOR_BYTES"),
    ):
        with pytest.raises(errors.InvalidArgumentError, match=text):
            frames.parse_prefix(head, limits)
