"""The run-time object behind a TensorArray, without a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from penstock.engine.resources.tensor_array import TensorArray
from penstock.foundation.base import errors

F = torch.float32


def _rows(count: int = 3) -> torch.Tensor:
    return torch.arange(2.0 * count).reshape(count, 2)


def _array(size: int = 3, **how: Any) -> TensorArray:
    return TensorArray("a", F, size, identical_element_shapes=True, **how)


def test_elements_are_kept_and_not_copied() -> None:
    array, row = _array(), torch.ones(2)
    array.write(1, row)
    assert array.read(1, F) is row
    assert array.read(0, F).tolist() == [0, 0]  # its shape is known by now


def test_what_was_unstacked_is_taken_apart_once() -> None:
    array, rows = _array(), _rows()
    array.scatter([0, 1, 2], rows)
    assert array.read(2, F).data_ptr() == rows[2].data_ptr()
    assert array.read(0, F).tolist() == [0, 1]


def test_what_is_gathered_is_memory_of_its_own() -> None:
    for touched in (False, True):
        array, rows = _array(clear_after_read=False), _rows()
        array.scatter([0, 1, 2], rows)
        if touched:
            array.read(0, F)
        array.gather([0, 1, 2], F).zero_()
        assert array.gather([2, 1, 0], F).tolist() == rows.flip(0).tolist()
        assert rows.sum() == 15


def test_reads_clear() -> None:
    array = _array()
    array.scatter([0, 1, 2], _rows())
    array.gather([0, 1, 2], F)
    for index in range(3):
        with pytest.raises(errors.InvalidArgumentError, match="twice.*clear_after_read=False"):
            array.read(index, F)
    with pytest.raises(errors.InvalidArgumentError, match="has already been read"):
        array.write(0, torch.ones(2))


def test_growing() -> None:
    array = _array(0, dynamic_size=True)
    array.write(2, torch.ones(2))
    assert array.size() == 3
    assert array.gather([0, 1, 2], F).tolist() == [[0, 0], [0, 0], [1, 1]]
    with pytest.raises(errors.InvalidArgumentError, match="Tried to write to index -1"):
        array.write(-1, torch.ones(2))
    with pytest.raises(errors.InvalidArgumentError, match="index 3 .*size is: 3; it cannot grow"):
        _array().write(3, torch.ones(2))


@pytest.mark.parametrize(
    "wrong, match",
    [
        (lambda a: a.read(3, F), "Tried to read from index 3 but array size is: 3"),
        (lambda a: a.read(-1, F), "Tried to read from index -1"),
        (lambda a: a.read(0, torch.int32), "dtype is float but Op requested dtype int32"),
        (lambda a: a.write(0, torch.ones(2)), "written once"),
        (lambda a: a.write(1, torch.ones(3)), "shape is .3. which is incompatible.*infer_shape"),
        (
            lambda a: a.write(1, torch.ones(2, dtype=torch.int32)),
            "TensorArray dtype is float but Op is trying to write dtype int32",
        ),
        (lambda a: a.scatter([0, 1], torch.ones(3, 2)), "saw: 2 vs. 3"),
        (lambda a: a.scatter([1], torch.tensor(1.0)), "at least a vector; found a scalar"),
        (lambda a: a.scatter([3], torch.ones(1, 2)), r"\(3 vs. 3\); it cannot grow"),
        (lambda a: a.split(torch.ones(3), [1, 1, 2]), "sum of lengths is 4 and value has 3 row"),
        (lambda a: a.split(torch.ones(3), [4, -1, 0]), "lengths must be"),
        (lambda a: a.split(torch.ones(3), [1, 2]), r"\(3 vs. 2\), and it cannot grow"),
        (lambda a: a.gather([0], F, (7,)), "elements of shape .7,. are asked for"),
        (lambda a: a.close() or a.size(), "it has been closed"),
        (lambda a: a.close() or a.read(0, F), "it has been closed"),
    ],
)
def test_mistakes_say_what_is_allowed(wrong: Any, match: str) -> None:
    array = _array()
    array.write(0, torch.ones(2))
    with pytest.raises(errors.InvalidArgumentError, match=f"(?s)TensorArray 'a': .*{match}"):
        wrong(array)


def test_elements_of_several_shapes() -> None:
    array = TensorArray("a", F, 2)
    array.write(0, torch.ones(1, 2))
    array.write(1, torch.ones(3, 2))
    value, lengths = array.concat(F)
    assert value.shape == (4, 2) and lengths.tolist() == [1, 3]
    other = TensorArray("a", F, 2)
    other.write(0, torch.ones(1))
    with pytest.raises(errors.InvalidArgumentError, match="index 1.*nothing was written"):
        other.gather([0, 1], F)
    other = TensorArray("a", F, 2, clear_after_read=False)
    other.write(0, torch.ones(1))
    other.write(1, torch.ones(2))
    with pytest.raises(errors.InvalidArgumentError, match="different shapes: index 0 .1., index 1"):
        other.gather([0, 1], F)
    with pytest.raises(errors.UnimplementedError, match="must be known"):
        other.gather([], F)


def test_gradient_arrays_add_and_begin_as_zeros() -> None:
    for identical in (True, False):
        array = TensorArray("a", F, 3, identical_element_shapes=identical, dynamic_size=True)
        array.write(0, torch.ones(2))
        array.write(1, torch.ones(2))
        array.read(1, F)
        gradient = array.gradient("gradients")
        assert array.gradient("gradients") is gradient is not array.gradient("gradients_1")
        assert not array.dynamic_size
        gradient.write(0, torch.ones(2))
        gradient.write(0, torch.ones(2))
        assert gradient.read(0, F).tolist() == [2, 2]
        assert gradient.read(1, F).tolist() == [0, 0]


def test_whole_gradients_are_added_as_one() -> None:
    array = _array()
    array.scatter([0, 1, 2], _rows())
    gradient = array.gradient("gradients")
    given = _rows()
    gradient.scatter([0, 1, 2], given)
    gradient.scatter([0, 1, 2], given)
    assert gradient.gather([0, 1, 2], F).tolist() == (given * 2).tolist()
    assert given.sum() == 15
    with pytest.raises(errors.InvalidArgumentError, match="has already been read"):
        gradient.scatter([0, 1, 2], given)


def test_strings() -> None:
    array = TensorArray("a", object, 2, identical_element_shapes=True)
    array.scatter([0, 1], np.array([b"x", b"y"], object))
    assert array.read(1, object).tolist() == b"y"
    array = TensorArray("a", object, 2, identical_element_shapes=True)
    array.write(0, np.array([b"x"], object))
    with pytest.raises(errors.InvalidArgumentError, match="no string"):
        array.read(1, object)
