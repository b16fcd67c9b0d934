"""``tf.parse_example`` and its kin: what features of ``Example`` messages are to become.

A *spec* says what a feature becomes; the functions sort the specs into what the Parse ops want and
put the results into dicts by name.

Source: the parsing functions of TensorFlow 1.15 (nodes, names, order, checks).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.build import constant, make
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.ops.array import reshape, slicing, squeeze
from penstock.ops.sparse.sparse_compose import sparse_merge


class FixedLenFeature(NamedTuple):
    """A feature with a fixed number of values; it becomes a dense tensor.

    Attributes:
      shape: of the values of one example.
      dtype: float32, int64 or string.
      default_value: for examples that lack it; without one they are an error.

    Args:
      shape: of the values in one example.
      dtype: tf.int64, tf.float32 or tf.string.
      default_value: for examples without the feature; without one they are errors.

    Example:
      >>> import penstock as tf
      >>> example = tf.train.Example()
      >>> example.features.feature["size"].int64_list.value.extend([28, 28])
      >>> wanted = {
      ...     "size": tf.FixedLenFeature([2], tf.int64),
      ...     "depth": tf.FixedLenFeature([], tf.int64, default_value=1),
      ... }
      >>> with tf.Session() as session:
      ...     parsed = session.run(tf.parse_single_example(example.SerializeToString(), wanted))
      >>> parsed["size"].tolist(), parsed["depth"].tolist()
      ([28, 28], 1)
    """

    shape: Any
    dtype: Any
    default_value: Any = None


class VarLenFeature(NamedTuple):
    """A feature with any number of values; it becomes a ``SparseTensor``.

    Attributes:
      dtype: float32, int64 or string.

    Args:
      dtype: tf.int64, tf.float32 or tf.string.

    Example:
      >>> import penstock as tf
      >>> example = tf.train.Example()
      >>> example.features.feature["words"].int64_list.value.extend([7, 8, 9])
      >>> wanted = {"words": tf.VarLenFeature(tf.int64)}
      >>> with tf.Session() as session:
      ...     parsed = session.run(tf.parse_single_example(example.SerializeToString(), wanted))
      >>> parsed["words"].values.tolist()
      [7, 8, 9]
    """

    dtype: Any


class FixedLenSequenceFeature(NamedTuple):
    """A feature with any number of items of one shape; it becomes a padded dense tensor.

    Attributes:
      shape: of an item.
      dtype: float32, int64 or string.
      allow_missing: whether an example may lack it; it then has no item.
      default_value: what it is padded with.
    """

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


class SparseFeature(NamedTuple):
    """Two or more features that together are a sparse tensor: indices, and values.

    Attributes:
      index_key: name of the feature with the indices, or a list, one a dim.
      value_key: name of the feature with the values.
      dtype: of the values.
      size: of the dense tensor: a number, or a list, one a dim.
      already_sorted: whether the indices are in order.
    """

    index_key: Any
    value_key: Any
    dtype: Any
    size: Any
    already_sorted: bool = False

    @property
    def index_keys(self) -> list[str]:
        """The names of the features with the indices, one a dim."""
        return [self.index_key] if isinstance(self.index_key, str) else list(self.index_key)


class _Specs:
    """Features sorted by what becomes of them, in the order of their names."""

    def __init__(self, features: Mapping[str, Any] | None, allowed: tuple[type, ...]) -> None:
        self.sparse: dict[str, dtypes.DType] = {}
        self.dense: dict[str, tuple[dtypes.DType, shapes.TensorShape]] = {}
        self.defaults: dict[str, Any] = {}
        self.may_lack: list[str] = []
        self.padded: set[str] = set()
        self.merged: dict[str, SparseFeature] = {}
        self.asked = frozenset(features or ())
        for key in sorted(self.asked):
            spec: Any = (features or {})[key]
            known: tuple[Any, ...] = allowed
            if not isinstance(spec, known):
                names = ", ".join(kind.__name__ for kind in allowed)
                raise ValueError(
                    f"Unsupported {type(spec).__name__} {spec}. Feature {key!r} must be one of"
                    f" {names}"
                )
            if isinstance(spec, SparseFeature):
                self._add_merged(key, spec)
                continue
            dtype = _type_of(key, spec)
            if isinstance(spec, VarLenFeature):
                self._add_sparse(key, dtype)
            else:
                self._add_dense(key, spec, dtype)
        both = self.sparse.keys() & self.dense.keys()
        if both:
            raise ValueError(f"Dense and sparse keys must not intersect; intersection: {both}")

    def _add_sparse(self, key: str, dtype: dtypes.DType) -> None:
        if self.sparse.setdefault(key, dtype) != dtype:
            raise ValueError(
                f"Conflicting type {self.sparse[key]} vs {dtype.name} for feature {key}."
            )

    def _add_merged(self, key: str, spec: SparseFeature) -> None:
        for what in ("index_key", "value_key"):
            if not getattr(spec, what):
                raise ValueError(f"Missing {what} for SparseFeature {spec}.")
        dtype = _type_of(key, spec)
        for index_key in spec.index_keys:
            self._add_sparse(index_key, dtypes.int64)
        self._add_sparse(spec.value_key, dtype)
        self.merged[key] = spec

    def _add_dense(self, key: str, spec: Any, dtype: dtypes.DType) -> None:
        if spec.shape is None:
            raise ValueError(f"Missing shape for feature {key}.")
        shape = shapes.as_shape(spec.shape)
        if isinstance(spec, FixedLenFeature) and shape.ndims and shape.as_list()[0] is None:
            raise ValueError(
                f"First dimension of shape for feature {key} unknown. Consider using"
                " FixedLenSequenceFeature."
            )
        if not shape.is_fully_defined():
            raise ValueError(
                f"All dimensions of shape for feature {key} need to be known but received"
                f" {spec.shape}."
            )
        self.dense[key] = dtype, shape
        if isinstance(spec, FixedLenSequenceFeature):
            self.padded.add(key)
            if spec.allow_missing:
                self.may_lack.append(key)
        if spec.default_value is not None:
            self.defaults[key] = spec.default_value

    def check_padded(self) -> None:
        """In plain examples a feature with any number of items may always be missing."""
        for key in self.padded - set(self.may_lack):
            raise ValueError(
                f"Unsupported: FixedLenSequenceFeature requires allow_missing to be True; feature"
                f" {key!r} has False"
            )

    def default_tensors(self, padding: bool, reshaped: bool = True) -> list[Any]:
        """The default of each dense feature; an empty tensor where there is none."""
        return [self._default(key, padding, reshaped) for key in self.dense]

    def _default(self, key: str, padding: bool, reshaped: bool) -> Any:
        dtype, shape = self.dense[key]
        given = self.defaults.get(key)
        label = "key_" + re.sub(r"[^A-Za-z0-9_.\-/]", "_", key)
        if padding and key in self.padded:
            if given is None:
                blank: Any = b"" if dtype is dtypes.string else 0
                return constant(np.array(blank, dtype.as_numpy_dtype), dtype)
            return reshape.reshape(convert_to_tensor(given, dtype, label), [])
        if given is None:
            return constant(np.zeros(0, dtype.as_numpy_dtype), dtype)
        tensor = convert_to_tensor(given, dtype, label)
        return reshape.reshape(tensor, shape.as_list()) if reshaped else tensor

    def dense_shapes(self, padding: bool) -> list[Any]:
        """The shape of each dense feature, with an unknown first dim where it is padded."""
        return [
            shapes.TensorShape([None, *shape.as_list()])
            if padding and key in self.padded
            else shape
            for key, (_, shape) in self.dense.items()
        ]

    @property
    def dense_types(self) -> list[dtypes.DType]:
        return [dtype for dtype, _ in self.dense.values()]

    @property
    def sparse_types(self) -> list[dtypes.DType]:
        return list(self.sparse.values())

    def named(self, indices: Any, values: Any, dims: Any, dense: Any) -> dict[str, Any]:
        """The results by name."""
        parts = zip(indices, values, dims, strict=True)
        found: dict[str, Any] = dict(zip(self.sparse, (SparseTensor(*p) for p in parts)))
        found.update(zip(self.dense, dense, strict=True))
        return self.with_merged(found)

    def with_merged(self, found: dict[str, Any]) -> dict[str, Any]:
        """What was asked for, from what was parsed: with each SparseFeature's tensor."""
        for key, spec in self.merged.items():
            ids = [found[index_key] for index_key in spec.index_keys]
            found[key] = sparse_merge(
                ids[0] if isinstance(spec.index_key, str) else ids,
                found[spec.value_key],
                spec.size,
                already_sorted=spec.already_sorted,
            )
        return {key: value for key, value in found.items() if key in self.asked}


def _type_of(key: str, spec: Any) -> dtypes.DType:
    if not spec.dtype:
        raise ValueError(f"Missing type for feature {key}.")
    return dtypes.as_dtype(spec.dtype)


_PLAIN = (VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature)
_CONTEXT = (VarLenFeature, FixedLenFeature)
_LISTS = (VarLenFeature, FixedLenSequenceFeature)


def parse_example(
    serialized: Any, features: Any, name: str | None = None, example_names: Any = None
) -> dict[str, Any]:
    """A batch of ``Example`` messages as tensors.

    Args:
      serialized: string vector ``[batch]``: serialized messages.
      features: name to ``FixedLenFeature``, ``VarLenFeature``, ``SparseFeature`` or
        ``FixedLenSequenceFeature``.
      example_names: string vector: what errors call the examples.

    Returns:
      Name to tensor (``[batch, ...]``) or SparseTensor.

    Raises:
      ValueError: a malformed spec.
      InvalidArgumentError: when it is run, on malformed messages.

    Example:
      >>> import penstock as tf
      >>> feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[7]))
      >>> example = tf.train.Example(features=tf.train.Features(feature={"x": feature}))
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     wanted = {"x": tf.FixedLenFeature([], tf.int64)}
      ...     sess.run(tf.parse_example([example.SerializeToString()], wanted))["x"].tolist()
      [7]
    """
    if not features:
        raise ValueError(f"Missing: features was {features}.")
    specs = _Specs(features, _PLAIN)
    specs.check_padded()
    given = [] if example_names is None else example_names
    with name_scope(name, "ParseExample", [serialized, given]):
        made = make(
            "ParseExample",
            serialized,
            convert_names(given),
            list(specs.sparse),
            list(specs.dense),
            specs.default_tensors(padding=True),
            sparse_types=specs.sparse_types,
            Tdense=specs.dense_types,
            dense_shapes=specs.dense_shapes(padding=True),
            name=name,
        )
    return specs.named(*made)


def convert_names(names: Any) -> Any:
    """Names of examples for an op: an empty string vector where there are none."""
    return np.empty(0, object) if isinstance(names, list) and not names else names


def parse_single_example(
    serialized: Any, features: Any, name: str | None = None, example_names: Any = None
) -> dict[str, Any]:
    """One ``Example`` message as tensors.

    Args:
      serialized: string scalar: the serialized message.
      features: as for ``parse_example``.
      example_names: string scalar: what errors call the example.

    Returns:
      Name to tensor or SparseTensor, as ``parse_example`` without the first dim.

    Example:
      >>> import penstock as tf
      >>> example = tf.train.Example()
      >>> example.features.feature["label"].int64_list.value.append(3)
      >>> example.features.feature["name"].bytes_list.value.append(b"three")
      >>> wanted = {
      ...     "label": tf.FixedLenFeature([], tf.int64),
      ...     "name": tf.FixedLenFeature([], tf.string),
      ... }
      >>> with tf.Session() as session:
      ...     parsed = session.run(tf.parse_single_example(example.SerializeToString(), wanted))
      >>> int(parsed["label"]), parsed["name"]
      (3, b'three')
    """
    if not features:
        raise ValueError("Missing features.")
    if example_names is not None:
        return _named_example(serialized, features, name, example_names)
    specs = _Specs(features, _PLAIN)
    specs.check_padded()
    with name_scope(name, "ParseSingleExample", [serialized]):
        made = make(
            "ParseSingleExample",
            serialized,
            specs.default_tensors(padding=True),
            num_sparse=len(specs.sparse),
            sparse_keys=list(specs.sparse),
            dense_keys=list(specs.dense),
            sparse_types=specs.sparse_types,
            Tdense=specs.dense_types,
            dense_shapes=specs.dense_shapes(padding=True),
            name=name,
        )
        return specs.named(*made)


def _named_example(serialized: Any, features: Any, name: str | None, given: Any) -> dict[str, Any]:
    """By way of a batch of one: only that op knows names of examples."""
    with name_scope(name, "ParseSingleExample", [serialized, given]):
        batch = reshape.expand_dims(convert_to_tensor(serialized), 0)
        names = reshape.expand_dims(convert_to_tensor(given), 0)
        found = parse_example(batch, features, name, names)
        for key, part in found.items():
            label = re.sub(r"[^A-Za-z0-9_.\-/]", "_", key)
            if not isinstance(part, SparseTensor):
                found[key] = squeeze.squeeze(part, [0], name=f"Squeeze_{label}")
                continue
            found[key] = SparseTensor(
                slicing.slice_(part.indices, [0, 1], [-1, -1], name=f"Slice_Indices_{label}"),
                part.values,
                slicing.slice_(part.dense_shape, [1], [-1], name=f"Squeeze_Shape_{label}"),
            )
        return found


def parse_sequence_example(
    serialized: Any,
    context_features: Any = None,
    sequence_features: Any = None,
    example_names: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """A batch of ``SequenceExample`` messages as tensors.

    Args:
      serialized: string vector ``[batch]``.
      context_features: name to ``FixedLenFeature`` or ``VarLenFeature``.
      sequence_features: name to ``FixedLenSequenceFeature`` or ``VarLenFeature``.
      example_names: string vector: what errors call the examples.

    Returns:
      Three dicts: the context; the sequences (``[batch, longest, ...]``, padded with zeros); the
      lengths of the dense sequences.
    """
    context, lists = _both(context_features, sequence_features)
    given = [] if example_names is None else example_names
    with name_scope(name, "ParseSequenceExample", [serialized, given]):
        made = make(
            "ParseSequenceExample",
            serialized,
            convert_names(given),
            context.default_tensors(padding=False, reshaped=False),
            feature_list_dense_missing_assumed_empty=lists.may_lack,
            context_sparse_keys=list(context.sparse),
            context_dense_keys=list(context.dense),
            feature_list_sparse_keys=list(lists.sparse),
            feature_list_dense_keys=list(lists.dense),
            Ncontext_sparse=len(context.sparse),
            Ncontext_dense=len(context.dense),
            Nfeature_list_sparse=len(lists.sparse),
            Nfeature_list_dense=len(lists.dense),
            name=name,
            **_numbers(context, lists),
        )
    *rest, lengths = made
    found = dict(zip(lists.dense, lengths, strict=True))
    return context.named(*rest[:4]), lists.named(*rest[4:]), found


def parse_single_sequence_example(
    serialized: Any,
    context_features: Any = None,
    sequence_features: Any = None,
    example_name: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """One ``SequenceExample`` message as tensors.

    Args:
      serialized: string scalar.
      context_features: name to ``FixedLenFeature`` or ``VarLenFeature``.
      sequence_features: name to ``FixedLenSequenceFeature`` or ``VarLenFeature``.
      example_name: string scalar: what errors call the example.

    Returns:
      Two dicts: the context, and the sequences (``[length, ...]``).
    """
    context, lists = _both(context_features, sequence_features)
    with name_scope(name, "ParseSingleSequenceExample", [serialized, example_name]):
        made = make(
            "ParseSingleSequenceExample",
            serialized,
            np.array(lists.may_lack, object),
            list(context.sparse),
            list(context.dense),
            list(lists.sparse),
            list(lists.dense),
            context.default_tensors(padding=False),
            "" if example_name is None else example_name,
            name=name,
            **_numbers(context, lists),
        )
    parts = list(made)
    return context.named(*parts[:4]), lists.named(*parts[4:])


def _both(context_features: Any, sequence_features: Any) -> tuple[_Specs, _Specs]:
    if not (context_features or sequence_features):
        raise ValueError("Missing features.")
    return _Specs(context_features, _CONTEXT), _Specs(sequence_features, _LISTS)


def _numbers(context: _Specs, lists: _Specs) -> dict[str, Any]:
    """Attrs that both ops for sequences have."""
    return {
        "context_sparse_types": context.sparse_types,
        "Tcontext_dense": context.dense_types,
        "context_dense_shapes": context.dense_shapes(padding=False),
        "feature_list_sparse_types": lists.sparse_types,
        "feature_list_dense_types": lists.dense_types,
        "feature_list_dense_shapes": lists.dense_shapes(padding=False),
    }
