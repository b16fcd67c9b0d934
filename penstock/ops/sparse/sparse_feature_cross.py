"""Columns crossed as ``tf.contrib.layers`` crosses them: without a key by another hash.

Op types of a library that ``tf.contrib`` loads.  With a key, hashes are those of ``SparseCross``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.opdef import define_op
from penstock.ops.sparse.sparse_cross import KEY, category, cross, cross_shape

# The key that TensorFlow calls its default one; with None it takes the older hash.
SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY = KEY

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7800
_INPUTS = (
    "indices: N * int64, values: list(sparse_types), shapes: N * int64, dense: list(dense_types)"
    " -> output_indices: int64, output_values: out_type, output_shape: int64"
)
_FIRST = ["N: int >= 0", "hashed_output: bool", "num_buckets: int >= 0"]
_TYPES = [
    "sparse_types: list({int64, string}) >= 0",
    "dense_types: list({int64, string}) >= 0",
    "out_type: {int64, string}",
    "internal_type: {int64, string}",
]


def _combined(key: int, feature: int) -> int:
    # A signed number is shifted: what stands left of its sign is its sign.
    shifted = (key - (key >> 63 << 64)) >> 4
    return key ^ (feature + _GOLDEN + (key << 10) + shifted & _MASK)


def _first(
    indices: Sequence[Any], values: Sequence[Any], shapes: Sequence[Any], dense: Sequence[Any],
    hashed_output: bool, num_buckets: int,
) -> Any:  # fmt: skip
    return cross(indices, values, shapes, dense, hashed_output, num_buckets, KEY, _combined)


def _second(
    indices: Sequence[Any], values: Sequence[Any], shapes: Sequence[Any], dense: Sequence[Any],
    hashed_output: bool, num_buckets: int, hash_key: int,
) -> Any:  # fmt: skip
    return cross(indices, values, shapes, dense, hashed_output, num_buckets, hash_key)


define_op(
    "SparseFeatureCross",
    _INPUTS,
    attrs=_FIRST + _TYPES,
    shape=cross_shape,
    kernel=_first,
    no_gradient="a function of categories",
)
define_op(
    "SparseFeatureCrossV2",
    _INPUTS,
    attrs=[*_FIRST, "hash_key: int", *_TYPES],
    shape=cross_shape,
    kernel=_second,
    no_gradient="a function of categories",
)


def sparse_feature_cross(
    inputs: Any,
    hashed_output: bool = False,
    num_buckets: int = 0,
    name: str | None = None,
    hash_key: int | None = None,
) -> SparseTensor:
    """Each row's combinations of features, one of each input.

    Args:
      inputs: a list of SparseTensors and tensors of two dims, rows and features.
      hashed_output: whether combinations are hashes; else strings joined by ``_X_``.
      num_buckets: hashes are below it; 0 for hashes of 63 bits.
      hash_key: where hashing starts; None takes the older hash.

    Returns:
      A SparseTensor: rows, and the combinations of each.

    Raises:
      TypeError: ``inputs`` is no list.
    """
    if not isinstance(inputs, list):
        raise TypeError(f"Inputs must be a list; found {type(inputs).__name__}")
    sparse = [i for i in inputs if isinstance(i, SparseTensor)]
    values = [category(i.values) for i in sparse]
    dense = [category(i) for i in inputs if not isinstance(i, SparseTensor)]
    numbers = any(v.dtype != dtypes.string for v in (*values, *dense))
    attrs = {} if hash_key is None else {"hash_key": hash_key}
    made = make(
        "SparseFeatureCross" if hash_key is None else "SparseFeatureCrossV2",
        [i.indices for i in sparse], values, [i.dense_shape for i in sparse], dense,
        hashed_output=hashed_output, num_buckets=num_buckets, name=name,
        out_type=dtypes.int64 if hashed_output else dtypes.string,
        internal_type=dtypes.int64 if numbers and hashed_output else dtypes.string, **attrs,
    )  # fmt: skip
    return SparseTensor(*made)
