"""``tf.TypeSpec`` and its kin, with specs and values of a class of the user's."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.graph import nest
from penstock.foundation.graph.type_spec import (
    register_type_spec_from_value_converter,
    type_spec_from_value,
)  # fmt: skip


class Pair:
    def __init__(self, one: Any, other: Any, color: str = "red") -> None:
        self.one, self.other, self.color = (
            tf.convert_to_tensor(one), tf.convert_to_tensor(other), color,
        )  # fmt: skip


class PairSpec(tf.TypeSpec):
    def __init__(self, one: Any, one_type: Any, other: Any, other_type: Any, color: str) -> None:
        self.shapes = tf.TensorShape(one), tf.TensorShape(other)
        self.types, self.color = (one_type, other_type), color

    @property
    def value_type(self) -> Any:
        return Pair

    def _serialize(self) -> Any:
        return self.shapes[0], self.types[0], self.shapes[1], self.types[1], self.color

    @property
    def _component_specs(self) -> Any:
        return tuple(map(tf.TensorSpec, self.shapes, self.types))

    def _to_components(self, value: Any) -> Any:
        return value.one, value.other

    def _from_components(self, components: Any) -> Any:
        return Pair(*components, self.color)


register_type_spec_from_value_converter(
    Pair,
    lambda p: PairSpec(p.one.shape, p.one.dtype, p.other.shape, p.other.dtype, p.color),
)


def _spec(one: Any = (2, 3), other: Any = (None,), color: str = "red") -> PairSpec:
    return PairSpec(one, tf.float32, other, tf.bool, color)


def _pair() -> Pair:
    return Pair(np.ones([2, 3], np.float32), [True, False])


def test_equal_specs_have_one_hash() -> None:
    assert _spec() == _spec() and hash(_spec()) == hash(_spec())
    different = [_spec((2, 4)), _spec(None), _spec(other=(3,)), _spec(color="blue")]
    assert all(_spec() != one for one in different)
    assert pickle.loads(pickle.dumps(_spec())) == _spec()
    assert len({_spec(), _spec(), *different}) == 5


def test_text() -> None:
    assert repr(_spec()) == (
        "PairSpec(TensorShape([Dimension(2), Dimension(3)]), tf.float32,"
        " TensorShape([Dimension(None)]), tf.bool, 'red')"
    )


def test_compatible() -> None:
    assert _spec().is_compatible_with(_spec((None, 3), (7,)))
    assert _spec().is_compatible_with(_pair())
    assert not _spec().is_compatible_with(_spec(color="blue"))
    assert not _spec().is_compatible_with(_spec((2,)))
    assert not _spec().is_compatible_with(tf.TensorSpec([2, 3]))
    assert not _spec().is_compatible_with(tf.ones([2, 3]))


def test_the_type_of_either() -> None:
    found = _spec((2, 3), (4,)).most_specific_compatible_type(_spec((5, 3), (4, 1)))
    assert found == _spec((None, 3), None)
    with pytest.raises(ValueError, match="Types are not compatible: 'red' vs 'blue'"):
        _spec().most_specific_compatible_type(_spec(color="blue"))
    with pytest.raises(ValueError, match="No TypeSpec is compatible with both"):
        _spec().most_specific_compatible_type(tf.TensorSpec([2]))


def test_to_tensors_and_back() -> None:
    spec, pair = _spec(), _pair()
    assert spec._to_tensor_list(pair) == [pair.one, pair.other]
    back = spec._from_tensor_list([pair.one, pair.other])
    assert (back.one, back.other, back.color) == (pair.one, pair.other, "red")
    assert spec._flat_tensor_specs == [tf.TensorSpec([2, 3]), tf.TensorSpec([None], tf.bool)]
    with pytest.raises(ValueError, match="wrong number of tensors"):
        spec._from_tensor_list([pair.one])
    with pytest.raises(ValueError, match=r"Incompatible input: tensor 0 .* is incompatible with"):
        spec._from_tensor_list([pair.other, pair.one])
    with pytest.raises(ValueError, match="not compatible"):
        spec._to_tensor_list(tf.constant(1))


def test_specs_of_values() -> None:
    assert type_spec_from_value(_pair()) == _spec(other=(2,))
    assert type_spec_from_value(tf.ones([2])) == tf.TensorSpec([2])
    assert type_spec_from_value([1, 2]) == tf.TensorSpec([2], tf.int32)
    sparse = tf.SparseTensor([[0, 1]], [1.0], [2, 3])
    assert type_spec_from_value(sparse) == tf.SparseTensorSpec([2, 3]) == sparse._type_spec
    rows = tf.IndexedSlices(tf.ones([2, 3]), tf.constant([0, 4]), tf.constant([9, 3]))
    assert rows._type_spec == tf.IndexedSlicesSpec([9, 3], tf.float32, tf.int32, tf.int32, [2])
    array = tf.TensorArray(tf.int32, 3, element_shape=[2])
    assert type_spec_from_value(array) == tf.TensorArraySpec([2], tf.int32)
    with pytest.raises(TypeError, match="Could not build a TypeSpec for <object"):
        type_spec_from_value(object())


def test_each_kin_is_a_type_spec_of_its_own() -> None:
    specs: list[Any] = [
        tf.TensorSpec([2]), tf.SparseTensorSpec([2]), tf.IndexedSlicesSpec([2]),
        tf.TensorArraySpec([2]), tf.data.DatasetSpec(tf.TensorSpec([])),
        tf.OptionalSpec(tf.TensorSpec([])),
    ]  # fmt: skip
    assert all(isinstance(spec, tf.TypeSpec) for spec in specs)
    for one in specs:
        assert [other for other in specs if one.is_compatible_with(other)] == [one]
        assert [other for other in specs if one == other] == [one]


def test_nestings_expand_specs() -> None:
    structure = {"a": tf.SparseTensorSpec([2, 3]), "b": (_spec(), tf.TensorSpec([]))}
    flat = nest.flatten(structure, expand_composites=True)
    assert [spec.dtype for spec in flat] == [
        tf.int64, tf.float32, tf.int64, tf.float32, tf.bool, tf.float32,
    ]  # fmt: skip
    sparse, pair = tf.SparseTensor([[0, 1]], [1.0], [2, 3]), _pair()
    parts = [sparse.indices, sparse.values, sparse.dense_shape, pair.one, pair.other]
    packed = nest.pack_sequence_as(structure, [*parts, tf.ones([])], expand_composites=True)
    assert isinstance(packed["a"], tf.SparseTensor) and packed["a"].values is sparse.values
    assert packed["b"][0].one is pair.one
    nest.assert_same_structure([sparse], [tf.SparseTensorSpec([2, None])], expand_composites=True)
    with pytest.raises(ValueError, match="don't have the same nested structure"):
        nest.assert_same_structure([sparse], [_spec()], expand_composites=True)


def test_an_array_goes_through_its_components() -> None:
    array = tf.TensorArray(tf.float32, 2, element_shape=[]).unstack([1.0, 2.0])
    spec = tf.TensorArraySpec.from_value(array)
    back = spec._from_components(spec._to_components(array))
    with tf.Session() as session:
        assert session.run(back.stack()).tolist() == [1.0, 2.0]
    assert back.element_shape.as_list() == []
