"""What beginners are told: as good as TensorFlow 1.15's words, and with its phrases in them.

``messages.json`` is golden text, reviewed row by row beside 1.15's; ``record.py`` writes it.
"""

from __future__ import annotations

import json
import re

import pytest
import torch

from tests.tf1.mistakes import beginners, record

ROWS = json.loads(record.FILE.read_text())
# Where 1.15's phrase is not kept, and why what stands instead tells more.
OTHER_WORDS = {
    "axes_for_axis": "the function's own name instead of an internal one",
    "concat_of_different_ranks": "says that it is the ranks that must be equal, and names both",
    "open_size_in_a_variable": "1.15 speaks of initializers where a size is open",
    "variable_without_a_shape": "1.15 speaks of initializers where a shape is missing",
    "while_loop_of_growing_shapes": "says which of the loop's variables it is",
    "fetched_a_result": "NumPy 2 writes np.float32(1.0)",
    "float_of_a_tensor": "Python's own words, of a newer Python",
}
# Where the class is another one; each is a base class of 1.15's, or of the same error elsewhere.
OTHER_CLASS = {
    "if_of_a_tensor": "TypeError, which 1.15's internal class is derived from",
    "loop_over_a_tensor": "TypeError, which 1.15's internal class is derived from",
    "restored_from_nowhere": "what 1.15 raises where the folder is there and the file is not",
}
NO_ERROR = {"two_open_sizes_in_a_reshape", "conv2d_of_one_stride"}


def _phrase(message: str) -> str:
    """What people search for: a message's first clause."""
    return re.split(r" for '| \(op: |, between |\n|\. |: |; |\.$", message)[0]


def test_there_are_sixty() -> None:
    assert len(beginners.MISTAKES) >= 60 and set(ROWS) == {m.__name__ for m in beginners.MISTAKES}


@pytest.fixture(scope="module")
def said() -> dict[str, list[str]]:
    return record.ours()


@pytest.mark.parametrize("name", list(ROWS))
def test_what_is_said(name: str, said: dict[str, list[str]]) -> None:
    if name == "unknown_device" and torch.cuda.is_available():
        pytest.skip("the message lists this machine's devices, and it has a GPU")
    kind, text = said[name]
    assert [kind, text] == ROWS[name]["penstock"]
    their_kind, theirs = ROWS[name]["tensorflow 1.15"]
    assert (kind == their_kind) == (name not in OTHER_CLASS)
    assert (_phrase(theirs) in text) == (name not in OTHER_WORDS)
    assert (kind == "value") == (name in NO_ERROR)


@pytest.mark.parametrize("name", [n for n, row in ROWS.items() if "Invalid" in row["penstock"][0]])
def test_errors_of_steps_name_the_line(name: str) -> None:
    if name != "unknown_device":  # that is found before the step is made
        assert "made at beginners.py:N" in ROWS[name]["penstock"][1]
