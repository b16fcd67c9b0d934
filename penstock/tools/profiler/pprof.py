"""A code view as a pprof profile (gzipped ``perftools.profiles.Profile``).

The few fields that are needed are written by hand: numbers as varints, parts as length-delimited
fields, which is all there is to the wire format here.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable

from penstock.tools.profiler.views import ViewNode

_SAMPLES = (
    ("micros", "microseconds"),
    ("bytes", "bytes"),
    ("params", "count"),
    ("float_ops", "count"),
)


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _packed(field: int, values: Iterable[int]) -> bytes:
    return _bytes(field, b"".join(map(_varint, values)))


def encode(root: ViewNode) -> bytes:
    """The profile's bytes.

    Args:
      root: a code view; its rows are called ``file:line:function``.

    Returns:
      A gzipped profile: a sample for each line that made nodes, with its time in microseconds, its
      bytes, parameters and float operations.
    """
    strings: dict[str, int] = {"": 0}
    locations: dict[str, int] = {}
    parts = [
        _bytes(1, _number(1, _of(strings, name)) + _number(2, _of(strings, unit)))
        for name, unit in _SAMPLES
    ]
    stack: list[tuple[ViewNode, tuple[int, ...]]] = [(child, ()) for child in root.children]
    while stack:
        node, callers = stack.pop()
        # The innermost line comes first in a sample.
        path = (locations.setdefault(node.name, len(locations) + 1), *callers)
        if node.members:
            values = [node.own[key] for key, _ in _SAMPLES]
            parts.append(_bytes(2, _packed(1, path) + _packed(2, values)))
        stack.extend((child, path) for child in node.children)
    for name, number in locations.items():
        parts.extend(_location(name, number, strings))
    parts.extend(_bytes(6, text.encode()) for text in strings)
    return gzip.compress(b"".join(parts), mtime=0)


def _of(strings: dict[str, int], text: str) -> int:
    return strings.setdefault(text, len(strings))


def _location(name: str, number: int, strings: dict[str, int]) -> list[bytes]:
    file, line, function = (name.rsplit(":", 2) + ["0", ""])[:3]
    names = _of(strings, function), _of(strings, file)
    at = _number(1, number) + _number(2, int(line) if line.isdigit() else 0)
    return [
        _bytes(4, _number(1, number) + _bytes(4, at)),
        _bytes(5, _number(1, number) + _number(2, names[0]) + _number(4, names[1])),
    ]
