"""Shapes that do not fit together, as functions of shapes and as TensorFlow's nodes say it."""

from __future__ import annotations

from collections.abc import Sequence


class MismatchError(ValueError):
    """Two shapes that do not fit together.

    Args:
      message: as of the functions of shapes.
      words: what TensorFlow says where a node is given such shapes.
    """

    def __init__(self, message: str, words: str) -> None:
        super().__init__(message)
        self.words = words


def in_a_node(error: BaseException) -> str:
    """The message of an error that a node's shape rule raised."""
    return f"{error.words}: {error}" if isinstance(error, MismatchError) else str(error)


def difference(a: Sequence[int | None], b: Sequence[int | None]) -> str:
    """What tells two shapes apart, in TensorFlow's words."""
    if len(a) != len(b):
        return f"Shapes must be equal rank, but are {len(a)} and {len(b)}"
    pairs = enumerate(zip(a, b, strict=True))
    axis = next(i for i, pair in pairs if None not in pair and pair[0] != pair[1])
    return f"Dimension {axis} in both shapes must be equal, but are {a[axis]} and {b[axis]}"


def show(dims: Sequence[int | None] | None) -> str:
    """Dims as TensorFlow's run-time errors write them.

    >>> show((2, None)), show(()), show(None)
    ('[2,?]', '[]', '<unknown>')
    """
    if dims is None:
        return "<unknown>"
    return f"[{','.join('?' if d is None else str(d) for d in dims)}]"
