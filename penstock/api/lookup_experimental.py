"""``tf.lookup.experimental``: explicit re-exports, no logic."""

from penstock.training.data.lookup_mutable import MutableDenseHashTable as _DenseHashTable

DenseHashTable = _DenseHashTable
