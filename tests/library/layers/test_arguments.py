"""``tensorflow.python.layers.utils``: TensorFlow 1.15's values."""

from __future__ import annotations

import pytest

from penstock.python.layers import utils


def test_arguments_are_brought_to_one_form() -> None:
    assert utils.normalize_tuple(2, 3, "strides") == (2, 2, 2)
    assert utils.normalize_tuple([1, 2], 2, "strides") == (1, 2)
    for wrong in ([1, 2], None):
        with pytest.raises(ValueError, match="The `s` argument must be a tuple of 3 integers"):
            utils.normalize_tuple(wrong, 3, "s")
    with pytest.raises(ValueError, match="including element a of type <class 'str'>"):
        utils.normalize_tuple(["a", 1], 2, "s")
    assert utils.normalize_padding("SAME") == "same"
    assert utils.normalize_data_format("Channels_First") == "channels_first"
    with pytest.raises(ValueError, match='must be one of "valid", "same". Received: causal'):
        utils.normalize_padding("causal")
    found = [utils.convert_data_format("channels_first", n) for n in (3, 4, 5)]
    assert found == ["NCW", "NCHW", "NCDHW"]
    with pytest.raises(ValueError, match="Input rank not supported: 6"):
        utils.convert_data_format("channels_last", 6)


def test_lengths() -> None:
    paddings = ("same", "valid", "full")
    found = [utils.conv_output_length(10, 3, p, 2, d) for p in paddings for d in (1, 2)]
    assert found == [5, 5, 4, 3, 6, 7]
    assert [utils.conv_input_length(5, 3, p, 2) for p in paddings] == [9, 11, 7]
    assert [utils.deconv_output_length(5, 3, p, 2) for p in paddings] == [10, 11, 7]
    assert utils.conv_output_length(None, 3, "same", 2) is None
    with pytest.raises(AssertionError, match="same, valid or full"):
        utils.conv_output_length(10, 3, "none", 2)
