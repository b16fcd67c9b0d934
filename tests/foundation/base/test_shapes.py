"""Shapes: Dimension and TensorShape as TensorFlow 1.15 has them, and the plain-tuple rules."""

import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st

from penstock.foundation.base import dimension, shapes
from penstock.foundation.base.dimension import Dimension as D
from penstock.foundation.base.dtypes import float32
from penstock.foundation.base.shapes import TensorShape as S

dims = st.one_of(st.none(), st.integers(0, 4))
static = st.one_of(st.none(), st.lists(dims, max_size=4).map(tuple))
known = st.lists(st.integers(0, 4), max_size=4).map(tuple)


# What TensorFlow 1.15 gives, by evaluating the same expression.
@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("D(3)", "Dimension(3)"),
        ("D(None)", "Dimension(None)"),
        ("str(D(3))", "'3'"),
        ("str(D(None))", "'?'"),
        ("D(3.0)", "Dimension(3)"),
        ("D('3')", "Dimension(3)"),
        ("D(True)", "Dimension(1)"),
        ("D(np.int64(3))", "Dimension(3)"),
        ("D(D(3))", "Dimension(3)"),
        ("D(3) + 2", "Dimension(5)"),
        ("2 + D(3)", "Dimension(5)"),
        ("5 - D(3)", "Dimension(2)"),
        ("D(3) - D(None)", "Dimension(None)"),
        ("D(3) * None", "Dimension(None)"),
        ("3 * D(3)", "Dimension(9)"),
        ("D(7) // 2", "Dimension(3)"),
        ("14 // D(7)", "Dimension(2)"),
        ("D(7) % 4", "Dimension(3)"),
        ("7 % D(4)", "Dimension(3)"),
        ("D(None) // D(0)", "Dimension(None)"),
        ("D(None) == 3", "None"),
        ("D(3) == D(None)", "None"),
        ("D(None) == None", "None"),
        ("D(3) != D(None)", "None"),
        ("D(3) != 3", "False"),
        ("D(3) < 4", "True"),
        ("D(3) < None", "None"),
        ("D(3) >= D(3)", "True"),
        ("D(3) > 3", "False"),
        ("D(3) <= 3", "True"),
        ("D(3) == 'a'", "False"),
        ("D(3) == 3.5", "False"),
        ("D(3) != 'a'", "True"),
        ("int(D(3))", "3"),
        ("range(D(3))", "range(0, 3)"),
        ("[1, 2, 3, 4][D(2)]", "3"),
        ("bool(D(0))", "True"),
        ("D(3).merge_with(None)", "Dimension(3)"),
        ("D(None).merge_with(4)", "Dimension(4)"),
        ("D(3).is_compatible_with(4)", "False"),
        ("D(3).is_compatible_with(None)", "True"),
        ("dimension.dimension_value(D(3))", "3"),
        ("dimension.dimension_value(D(None))", "None"),
        ("dimension.dimension_value(3)", "3"),
        ("shapes.dimension_at_index(S(None), 1)", "Dimension(None)"),
        ("shapes.dimension_at_index(S([1, 2]), 1)", "Dimension(2)"),
        ("S(None)", "TensorShape(None)"),
        ("str(S(None))", "'<unknown>'"),
        ("S([])", "TensorShape([])"),
        ("str(S([]))", "'()'"),
        ("S([None, 3])", "TensorShape([Dimension(None), Dimension(3)])"),
        ("str(S([None, 3]))", "'(?, 3)'"),
        ("str(S([3]))", "'(3,)'"),
        ("S(3)", "TensorShape([Dimension(3)])"),
        ("S(np.array([2, 3]))", "TensorShape([Dimension(2), Dimension(3)])"),
        ("S(D(3))", "TensorShape([Dimension(3)])"),
        ("S(S([1]))", "TensorShape([Dimension(1)])"),
        ("S(range(3))", "TensorShape([Dimension(0), Dimension(1), Dimension(2)])"),
        ("S((1, 2)).dims", "[Dimension(1), Dimension(2)]"),
        ("S(None).dims", "None"),
        ("S(None).rank", "None"),
        ("S([1, 2]).ndims", "2"),
        ("len(S([1, 2]))", "2"),
        ("bool(S(None))", "False"),
        ("bool(S([]))", "True"),
        ("list(S([1, None]))", "[Dimension(1), Dimension(None)]"),
        ("S([1, 2, 3])[-1]", "Dimension(3)"),
        ("S([1, 2, 3])[1:]", "TensorShape([Dimension(2), Dimension(3)])"),
        ("S([1, 2, 3])[::2]", "TensorShape([Dimension(1), Dimension(3)])"),
        ("S(None)[1]", "Dimension(None)"),
        ("S(None)[1:]", "TensorShape(None)"),
        ("S(None)[:2]", "TensorShape([Dimension(None), Dimension(None)])"),
        ("S(None)[1:3]", "TensorShape([Dimension(None), Dimension(None)])"),
        ("S(None)[:-1]", "TensorShape(None)"),
        ("S(None)[-2:]", "TensorShape(None)"),
        ("S(None)[3:1]", "TensorShape([])"),
        ("S([1, 2]).num_elements()", "2"),
        ("S([]).num_elements()", "1"),
        ("S([1, None]).num_elements()", "None"),
        ("S(None).num_elements()", "None"),
        ("S([1, None]).merge_with([None, 2])", "TensorShape([Dimension(1), Dimension(2)])"),
        ("S(None).merge_with([1])", "TensorShape([Dimension(1)])"),
        ("S([1]).merge_with(None)", "TensorShape([Dimension(1)])"),
        ("S([1]).concatenate([2])", "TensorShape([Dimension(1), Dimension(2)])"),
        ("S([1]).concatenate(3)", "TensorShape([Dimension(1), Dimension(3)])"),
        ("S([1]).concatenate(D(2))", "TensorShape([Dimension(1), Dimension(2)])"),
        ("S([1]).concatenate(None)", "TensorShape(None)"),
        ("S(None).concatenate([1])", "TensorShape(None)"),
        ("S([1]) + [2]", "TensorShape([Dimension(1), Dimension(2)])"),
        ("[2] + S([1])", "TensorShape([Dimension(2), Dimension(1)])"),
        ("S([1]).__concat__([2])", "TensorShape([Dimension(1), Dimension(2)])"),
        ("S(None).with_rank(2)", "TensorShape([Dimension(None), Dimension(None)])"),
        ("S([1]).with_rank(1)", "TensorShape([Dimension(1)])"),
        ("S(None).with_rank_at_least(2)", "TensorShape(None)"),
        ("S(None).with_rank_at_most(2)", "TensorShape(None)"),
        ("S(None).assert_has_rank(2)", "None"),
        ("S([1]).is_compatible_with([2])", "False"),
        ("S([1]).is_compatible_with([None])", "True"),
        ("S([None, 2]).is_compatible_with(3)", "False"),
        ("S([1, None]).is_fully_defined()", "False"),
        ("S([1, 2]).is_fully_defined()", "True"),
        ("S(None).is_fully_defined()", "False"),
        (
            "S([1, 2]).most_specific_compatible_shape([1, 3])",
            "TensorShape([Dimension(1), Dimension(None)])",
        ),
        ("S([1, 2]).most_specific_compatible_shape([1])", "TensorShape(None)"),
        ("S([1, None]).as_list()", "[1, None]"),
        ("S([1, 2]) == [1, 2]", "True"),
        ("S([1, 2]) == (1, 3)", "False"),
        ("S([2]) == 2", "True"),
        ("S([1, 2]) == 'a'", "False"),
        ("S([1, 2]) != 'a'", "True"),
        ("S([1, 2]) != [1, 2]", "False"),
        ("S(None) == None", "True"),
        ("S(None) == S([1])", "False"),
        # Partly unknown shapes equal only themselves.
        ("S([1, None]) == [1] + [None]", "False"),
        ("S([1, None]) != [1] + [None]", "True"),
        ("partial == partial", "True"),
        ("partial == partial[:]", "True"),
        ("partial == S(partial)", "True"),
        ("partial == partial.concatenate([])", "True"),
        ("partial != partial", "False"),
        ("1 in S([1, 2])", "True"),
        ("shapes.unknown_shape()", "TensorShape(None)"),
        ("shapes.unknown_shape(1)", "TensorShape([Dimension(None)])"),
        ("shapes.unknown_shape(rank=1)", "TensorShape([Dimension(None)])"),
        ("shapes.unknown_shape(ndims=1)", "TensorShape([Dimension(None)])"),
        ("shapes.scalar()", "TensorShape([])"),
        ("shapes.vector(3)", "TensorShape([Dimension(3)])"),
        ("shapes.matrix(2, None)", "TensorShape([Dimension(2), Dimension(None)])"),
        ("shapes.as_shape([1])", "TensorShape([Dimension(1)])"),
        ("dimension.as_dimension(3)", "Dimension(3)"),
    ],
)
def test_evaluates_as_tensorflow(expression, expected):
    names = {
        "D": D, "S": S, "shapes": shapes, "dimension": dimension, "np": np,
        "partial": S([1, None]),
    }  # fmt: skip
    assert repr(eval(expression, names)) == expected


@pytest.mark.parametrize(
    ("expression", "error", "message"),
    [
        ("D(-1)", ValueError, "Dimension -1 must be >= 0"),
        ("D(3) - 5", ValueError, "Dimension -2 must be >= 0"),
        ("D(3.5)", ValueError, "Ambiguous dimension: 3.5"),
        ("D('a')", ValueError, "Cannot convert 'a' to Dimension: allowed"),
        ("D(float32)", TypeError, "Cannot convert <dtype: 'float32'> to Dimension"),
        ("D([1])", TypeError, "Cannot convert [1] to Dimension"),
        ("D(7) / 2", TypeError, "for /: 'Dimension' and 'int', please use // instead"),
        ("2 / D(7)", TypeError, "for /: 'int' and 'Dimension', please use // instead"),
        ("D(7) // D(0)", ZeroDivisionError, ""),
        ("D(3) < 'a'", ValueError, "Cannot convert 'a' to Dimension"),
        ("D(3) + 1.5", TypeError, "unsupported operand type(s) for +: 'Dimension' and 'float'"),
        ("int(D(None))", TypeError, "its value is unknown"),
        ("[1, 2][D(None)]", TypeError, "its value is unknown"),
        ("D(3).merge_with(4)", ValueError, "Dimensions 3 and 4 are not compatible"),
        ("D(3).assert_is_compatible_with(4)", ValueError, "Dimensions 3 and 4 are not compatible"),
        ("S('abc')", TypeError, "A string has ambiguous TensorShape"),
        ("S([-1, 2])", ValueError, "Dimension -1 must be >= 0"),
        ("S([[1]])", TypeError, "Cannot convert [1] to Dimension"),
        ("len(S(None))", ValueError, "Cannot take the length of shape with unknown rank."),
        ("list(S(None))", ValueError, "Cannot iterate over a shape with unknown rank."),
        ("S([1, 2, 3])[5]", IndexError, "index 5 is out of range for shape (1, 2, 3) of rank 3"),
        ("S(None)[0:2:1]", ValueError, "with a step"),
        ("S([1, 2]).merge_with([1, 3])", ValueError, "Shapes (1, 2) and (1, 3) are not compatible"),
        ("S([1, 2]).merge_with([1])", ValueError, "Shapes (1, 2) and (1,) are not compatible"),
        ("S([1, 2]).with_rank(3)", ValueError, "Shape (1, 2) must have rank 3"),
        ("S([1]).with_rank_at_least(2)", ValueError, "Shape (1,) must have rank at least 2"),
        ("S([1, 2]).with_rank_at_most(1)", ValueError, "Shape (1, 2) must have rank at most 1"),
        ("S([1]).assert_has_rank(2)", ValueError, "Shape (1,) must have rank 2"),
        (
            "S([1]).assert_same_rank([1, 2])",
            ValueError,
            "Shapes (1,) and (1, 2) must have the same rank",
        ),
        (
            "S([1]).assert_is_compatible_with([2])",
            ValueError,
            "Shapes (1,) and (2,) are incompatible",
        ),
        ("S([1, None]).assert_is_fully_defined()", ValueError, "Shape (1, ?) is not fully defined"),
        ("S(None).as_list()", ValueError, "as_list() is not defined on an unknown TensorShape."),
        ("S(None) != S(None)", ValueError, "The inequality of unknown TensorShapes is undefined."),
        ("S(None) != S([1])", ValueError, "The inequality of unknown TensorShapes is undefined."),
        ("S([1]) + 'a'", TypeError, "unsupported operand type(s) for +"),
    ],
)
def test_refuses_as_tensorflow(expression, error, message):
    with pytest.raises(error) as caught:
        eval(expression, {"D": D, "S": S, "float32": float32})
    assert message in str(caught.value)


def test_dims_are_stored_as_a_plain_tuple():
    assert S([2, D(None), np.int32(3)]).sizes == (2, None, 3)
    assert all(type(d) is int for d in S(np.array([2, 3])).sizes)
    assert S(None).sizes is None
    assert shapes.from_static((2, None)).sizes == (2, None)


def test_hash_and_pickle():
    assert len({S([1, 2]), S((1, 2)), S([1])}) == 2
    assert hash(D(3)) == hash(3)
    for dims_ in ([1, None], [], None):
        assert pickle.loads(pickle.dumps(S(dims_))).sizes == S(dims_).sizes
    assert pickle.loads(pickle.dumps(D(3))).value == 3


@given(static)
def test_proto_round_trip(dims_):
    pytest.importorskip("tensorboard")
    proto = S(dims_).as_proto()
    assert S(proto).sizes == dims_
    assert proto.unknown_rank is (dims_ is None)
    assert [d.size for d in proto.dim] == [-1 if d is None else d for d in dims_ or ()]


def merge_or_none(a, b):
    try:
        return ("merged", shapes.merge_static(a, b))
    except ValueError:
        return None


@given(static, static)
def test_merge_is_commutative_and_agrees_with_compatibility(a, b):
    assert merge_or_none(a, b) == merge_or_none(b, a)
    assert (merge_or_none(a, b) is not None) == shapes.is_compatible_static(a, b)
    assert shapes.is_compatible_static(a, b) == shapes.is_compatible_static(b, a)


@given(static, static)
def test_merge_loses_nothing_and_is_idempotent(a, b):
    merged = merge_or_none(a, b)
    if merged is not None:
        assert shapes.merge_static(merged[1], a) == merged[1]
        assert shapes.merge_static(merged[1], b) == merged[1]
    assert shapes.merge_static(a, a) == a


@given(static, static)
def test_most_specific_compatible_shape_is_compatible_with_both(a, b):
    shape = S(a).most_specific_compatible_shape(b)
    assert shape.is_compatible_with(a) and shape.is_compatible_with(b)


def test_merge_names_both_shapes():
    with pytest.raises(ValueError, match=r"Shapes \(2, \?\) and \(3, 4\) are not compatible"):
        shapes.merge_static((2, None), (3, 4))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        # What tf.broadcast_static_shape of TensorFlow 1.15 gives.
        ((2, None), (1,), (2, None)),
        ((2, None), (4,), (2, 4)),
        ((2, None), (None,), (2, None)),
        ((2, None), None, None),
        ((1, None), (None, 1), (None, None)),
        ((0,), (1,), (0,)),
        ((0,), (None,), (None,)),
        ((), (3, None), (3, None)),
    ],
)
def test_broadcast(a, b, expected):
    assert shapes.broadcast_static(a, b) == expected
    assert shapes.broadcast_static(b, a) == expected


def test_broadcast_names_both_shapes():
    with pytest.raises(ValueError) as caught:
        shapes.broadcast_static((2, 3), (4,))
    assert str(caught.value) == "Incompatible shapes for broadcasting: (2, 3) and (4,)"


@given(known, known)
def test_broadcast_of_known_shapes_is_numpys(a, b):
    try:
        expected = np.broadcast_shapes(a, b)
    except ValueError:
        with pytest.raises(ValueError, match="Incompatible shapes"):
            shapes.broadcast_static(a, b)
    else:
        assert shapes.broadcast_static(a, b) == expected


@given(st.data(), known, known)
def test_broadcast_of_partly_known_shapes_holds_for_the_true_ones(data, a, b):
    def forget(shape):
        return tuple(data.draw(st.sampled_from([d, None])) for d in shape)

    try:
        true_shape = np.broadcast_shapes(a, b)
    except ValueError:
        return
    assert shapes.is_compatible_static(shapes.broadcast_static(forget(a), forget(b)), true_shape)
