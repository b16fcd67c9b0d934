"""What ATen complains about, in TensorFlow's words.

Most wrong operands are refused by shape rules and kernels, in words of their own.  What is left is
what an ATen operator finds in a program for any shapes.  People search logs for TensorFlow's
phrases, and programs match them, so each known complaint becomes the phrase; others stay.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

Shape = Sequence[int]

_ROWS: tuple[tuple[str, str], ...] = (
    (r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)",
     r"Matrix size-incompatible: In[0]: [\1,\2], In[1]: [\3,\4]"),
    (r"shape '\[(.*)\]' is invalid for input of size (\d+)",
     r"Input to reshape is a tensor with \2 values, but the requested shape is [\1]"),
    (r"Sizes of tensors must match except in dimension (\d+)\. Expected size (\d+) but got size"
     r" (\d+) for tensor number (\d+) in the list\.?",
     r"ConcatOp : Dimensions of inputs should match: in a dim other than \1 input 0 has size \2,"
     r" input \4 size \3"),
    (r"stack expects each tensor to be equal size, but got (\[.*?\]) at entry (\d+) and (\[.*?\])"
     r" at entry (\d+)",
     r"Shapes of all inputs must match: values[\2].shape = \1 != values[\4].shape = \3"),
    (r"dim (-?\d+) appears multiple times in the list of dims",
     r"axis \1 specified more than once"),
    (r"index_(?:copy|add|fill)_\(\): index (-?\d+) is out of bounds for dimension \d+ with size"
     r" (\d+)",
     r"indices is out of range: \1 is not in [0, \2)"),
    (r"index (-?\d+) is out of bounds for (?:dimension|axis) (\d+) with size (\d+)",
     r"index \1 is not in [0, \3) of dim \2"),
    (r"Dimension out of range \(expected to be in range of \[(-?\d+), (-?\d+)\], but got (-?\d+)\)",
     r"Dimension (\3) must be in the range [\1, \2]"),
)  # fmt: skip
_PATTERNS = tuple((re.compile(pattern), words) for pattern, words in _ROWS)
_BROADCAST = re.compile(r"The size of tensor a \(\d+\) must match the size of tensor b \(\d+\)")


def in_tensorflows_words(reason: str, shapes: Sequence[Shape]) -> str:
    """A complaint as TensorFlow words it, where it is known.

    Args:
      reason: what was raised.
      shapes: those of the node's operands.

    >>> in_tensorflows_words("shape '[4]' is invalid for input of size 6", [])
    'Input to reshape is a tensor with 6 values, but the requested shape is [4]'
    """
    if _BROADCAST.match(reason) and len(shapes) >= 2:
        first, second = (f"[{','.join(map(str, shape))}]" for shape in shapes[:2])
        return f"Incompatible shapes: {first} vs. {second}"
    for pattern, words in _PATTERNS:
        found = pattern.search(reason)
        if found is not None:
            return found.expand(words)
    return reason
