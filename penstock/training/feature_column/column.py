"""What feature columns are, and how a model asks them for tensors.

A column says how a feature becomes numbers; it holds no state.  A ``Features`` makes each tensor
once, whatever number of columns asks for it.  Variables are asked of a ``MakeVariable``, since
``input_layer``, ``linear_model`` and the layers of canned estimators make them differently.
"""

from __future__ import annotations

import abc
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from penstock.foundation.base import dtypes
from penstock.foundation.base.dimension import dimension_value
from penstock.foundation.base.shapes import TensorShape
from penstock.foundation.graph import scopes
from penstock.foundation.graph.composite import SparseTensor
from penstock.library.control_flow.cond import cond
from penstock.ops.array import gather, ranks, reshape, shape as shaping
from penstock.ops.array.cast import cast
from penstock.ops.array.indexed_slices import convert_to_tensor_or_sparse_tensor
from penstock.ops.control import check
from penstock.ops.math import comparison, select
from penstock.ops.sparse.sparse_functions import sparse_reshape


class IdWeightPair(NamedTuple):
    """Ids of categories, and their weights or None; both sparse tensors."""

    id_tensor: Any
    weight_tensor: Any


class TensorSequenceLengthPair(NamedTuple):
    """A dense tensor [batch, steps, ...] and how many steps each row has."""

    dense_tensor: Any
    sequence_length: Any


class MakeVariable(Protocol):
    """Gives a column its variable, made when it is first asked for.

    ``trainable`` says whether variables are trained, ``states`` has the state of columns that make
    it once, where there is such.
    """

    trainable: bool
    states: Any

    def __call__(
        self, column: Any, name: str, dims: Any, initializer: Any, trainable: bool = True
    ) -> Any:
        """The variable ``name`` of a column, with this shape (float32)."""


class FeatureColumn(abc.ABC):
    """How a feature becomes numbers."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The name, of which a model can have one each."""

    @property
    def scope_name(self) -> str:
        """The name of the scope of its variables."""
        return self.name

    @property
    @abc.abstractmethod
    def parse_example_spec(self) -> dict[str, Any]:
        """How ``tf.parse_example`` reads what it needs."""

    @abc.abstractmethod
    def transform(self, features: Features) -> Any:
        """The feature, transformed; ``Features.get`` calls it once."""


class DenseColumn(FeatureColumn):
    """A column that gives a dense tensor."""

    @property
    @abc.abstractmethod
    def variable_shape(self) -> TensorShape:
        """The shape of one example's tensor."""

    @abc.abstractmethod
    def dense_tensor(self, features: Features, variables: MakeVariable) -> Any:
        """The tensor, of shape [batch] and ``variable_shape``."""


class CategoricalColumn(FeatureColumn):
    """A column that gives ids of categories."""

    @property
    @abc.abstractmethod
    def num_buckets(self) -> int:
        """How many categories there are."""

    def sparse_tensors(self, features: Features) -> IdWeightPair:
        """The ids, and weights where there are some."""
        return IdWeightPair(features.get(self), None)


class SequenceDenseColumn(FeatureColumn):
    """A column that can give a dense tensor of sequences."""

    @abc.abstractmethod
    def sequence_dense_tensor(
        self, features: Features, variables: MakeVariable
    ) -> TensorSequenceLengthPair:
        """The tensor, of shape [batch, steps] and that of a step, and the sequences' lengths."""


class Features:
    """The features of a model, and what columns make of them.

    State: the tensors made so far.

    Args:
      features: tensors, sparse tensors or arrays by key.
    """

    def __init__(self, features: Mapping[str, Any]) -> None:
        self._given = dict(features)
        self._made: dict[Any, Any] = {}

    def get(self, key: Any) -> Any:
        """A feature by its key, of rank 2 at least, or what a column makes of it.

        Args:
          key: a key or a column.

        Raises:
          ValueError: there is no such feature, or it is a scalar.
          TypeError: the key is something else.
        """
        if key not in self._made:
            self._made[key] = self._make(key)
        return self._made[key]

    def _make(self, key: Any) -> Any:
        if isinstance(key, FeatureColumn):
            return key.transform(self)
        if key in self._given:
            return _with_last_dim(key, convert_to_tensor_or_sparse_tensor(self._given[key]))
        if isinstance(key, str):
            raise ValueError(
                f"Feature {key} is not in features dictionary. There are {sorted(self._given)}"
            )
        raise TypeError(f'"key" must be either a "str" or "FeatureColumn". Provided: {key!r}')


def _with_last_dim(key: str, feature: Any) -> Any:
    """A feature of rank 1 with one more dim; others as they are."""
    rank = feature.shape.ndims
    if rank == 0:
        raise ValueError(f"Feature (key: {key}) cannot have rank 0. Given: {feature}")
    if rank is not None:
        return feature if rank > 1 else _expanded(feature)
    text = f"Feature (key: {key}) cannot have rank 0. Given: {feature}"
    checked = check.assert_positive(ranks.rank(feature), message=text)
    with scopes.control_dependencies([checked]):
        is_list = comparison.equal(1, ranks.rank(feature))
        return cond(is_list, lambda: _expanded(feature), lambda: feature)


def _expanded(feature: Any) -> Any:
    if isinstance(feature, SparseTensor):
        return sparse_reshape(feature, [shaping.shape(feature)[0], 1])
    return reshape.expand_dims(feature, -1)


def to_sparse(feature: Any, ignored: Any = None) -> SparseTensor:
    """A sparse tensor of a dense one, without the values that stand for nothing.

    Args:
      feature: a tensor; a sparse one is left as it is.
      ignored: the value that stands for nothing; default "" or -1, or 0 for floats.
    """
    feature = convert_to_tensor_or_sparse_tensor(feature)
    if isinstance(feature, SparseTensor):
        return feature
    with scopes.name_scope(None, "to_sparse_input", (feature, ignored)):
        if ignored is None:
            default: Any = -1 if feature.dtype.is_integer else 0
            ignored = "" if feature.dtype == dtypes.string else default
        ignored = cast(ignored, feature.dtype, name="ignore_value")
        indices = select.where_v2(comparison.not_equal(feature, ignored), name="indices")
        return SparseTensor(
            indices=indices,
            values=gather.gather_nd(feature, indices, name="values"),
            dense_shape=shaping.shape(feature, out_type=dtypes.int64, name="dense_shape"),
        )


def normalized(columns: Any) -> list[Any]:
    """Columns as a list, sorted by name.

    Args:
      columns: a column, or several.

    Raises:
      ValueError: there is none, two have one name, or one is no column.
    """
    if isinstance(columns, FeatureColumn):
        columns = [columns]
    if isinstance(columns, Iterator):
        columns = list(columns)
    if isinstance(columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    by_name: dict[str, Any] = {}
    for column in columns:
        if not isinstance(column, FeatureColumn):
            raise ValueError(
                "Items of feature_columns must be a _FeatureColumn (tf.feature_column's functions"
                f" make them). Given (type {type(column)}): {column!r}."
            )
    for column in columns:
        if column.name in by_name:
            raise ValueError(
                f"Duplicate feature column name found for columns: {column!r} and"
                f" {by_name[column.name]!r}. This usually means that these columns refer to same"
                " base feature; drop one, or give the feature a second key"
            )
        by_name[column.name] = column
    if not by_name:
        raise ValueError("feature_columns must not be empty.")
    return [by_name[name] for name in sorted(by_name)]


def check_batch_sizes(tensors: Iterable[Any], columns: Iterable[FeatureColumn]) -> None:
    """Checks that columns' tensors have one batch size, as far as known.

    Raises:
      ValueError: they do not.
    """
    known = [(dimension_value(t.shape[0]), c.name) for t, c in zip(tensors, columns)]
    known = [(size, name) for size, name in known if size is not None]
    for size, name in known[1:]:
        if size != known[0][0]:
            raise ValueError(
                "Batch size (first dimension) of each feature must be same. Batch size of columns"
                f" ({known[0][1]}, {name}): ({known[0][0]}, {size})"
            )


# ---- checks of arguments -------------------------------------------------------------------------


def check_key(key: Any) -> None:
    """Checks that a feature's key is a string."""
    if not isinstance(key, str):
        raise ValueError(f"key must be a string. Got: type {type(key)}. Given key: {key!r}.")


def check_category_type(dtype: Any, prefix: str) -> None:
    """Checks that a dtype is string or an integer."""
    if dtype != dtypes.string and not dtype.is_integer:
        raise ValueError(f"{prefix} dtype must be string or integer. dtype: {dtype!r}.")


def checked_dims(dims: Any, key: Any) -> tuple[int, ...]:
    """A shape as a tuple of sizes above 0."""
    found = tuple(dims) if isinstance(dims, list | tuple | TensorShape) else (dims,)
    for dim in found:
        if not isinstance(dim, int):
            raise TypeError(f"shape dimensions must be integer. shape: {dims}, key: {key}")
        if dim < 1:
            raise ValueError(f"shape dimensions must be greater than 0. shape: {dims}, key: {key}")
    return found
