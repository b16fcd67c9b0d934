"""Blocks of headers say what hpack's own decoder makes of them, remembered or not."""

from __future__ import annotations

import random

import pytest
from hpack import Decoder, Encoder, NeverIndexedHeaderTuple

from penstock.cluster.http2 import frames, headers
from penstock.cluster.http2.frames import ConnectionFailed
from penstock.cluster.http2.headers import Blocks

_NAMES = ["tf-rpc", "x" * 130, "token", "grpc-timeout", "content-type", "grpc-encoding"]


def _fields(dice: random.Random) -> list[tuple[str, str]]:
    made = [(":method", "POST"), (":path", dice.choice(["/a", "/b/c" * 40])), ("te", "trailers")]
    for _ in range(dice.randint(0, 4)):
        name = dice.choice(
            ["tf-rpc", "x" * 130, "token", "grpc-timeout", "content-type", "grpc-encoding"]
        )
        value = str(dice.randrange(3)) * dice.choice([1, 1, 3, 126, 127, 300])
        noted = dice.random() < 0.5
        made.append((name, value) if noted else NeverIndexedHeaderTuple(name, value))
    return made


@pytest.mark.parametrize("seed", range(20))
def test_what_is_remembered_is_what_the_bytes_say(seed: int) -> None:
    dice = random.Random(seed)
    encoder, plain, blocks = Encoder(), Decoder(1 << 20), Blocks(1 << 20)
    for _ in range(200):
        if dice.random() < 0.02:
            encoder.header_table_size = dice.choice([0, 200, 1000, 4096])
        block = bytes(encoder.encode(_fields(dice), huffman=dice.random() < 0.3))
        expected = dict(plain.decode(block))
        found, own = blocks.head(block)
        assert (found.method, found.path) == (expected.pop(":method"), expected.pop(":path"))
        assert {**found.metadata, **(own or {})} == expected
        assert found.is_call == expected.get("content-type", "").startswith("application/grpc")
        assert found.encoding == expected.get("grpc-encoding", "identity")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("3S", 3.0), ("250m", 0.25), ("2H", 7200.0), ("5u", 5e-6), ("S", -1.0), ("9" * 9 + "S", -1.0)],
)
def test_the_time_that_a_caller_waits(text: str, seconds: float) -> None:
    block = headers.field("grpc-timeout", text.encode())
    assert Blocks(1000).head(block)[0].seconds == pytest.approx(seconds)


def test_binary_metadata() -> None:
    found, _ = Blocks(1000).head(headers.field("a-bin", b"AAE") + headers.field("b-bin", b"\xff"))
    assert found.metadata == {"a-bin": b"\0\1", "b-bin": b""}


@pytest.mark.parametrize(
    "block", [b"\0", b"\0\1", b"\0\1a", b"\0\1a\5b", b"\0\0\1b", b"\xbe", b"\x80", b"\x3f\xff\xff"]
)
def test_blocks_that_are_none(block: bytes) -> None:
    try:
        Blocks(1000).head(block)
    except ConnectionFailed as error:
        assert error.code == frames.COMPRESSION_ERROR
    else:
        assert block == b"\0\0\1b"  # a field without a name, which hpack lets through
