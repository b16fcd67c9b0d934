"""``tf.lookup.experimental``: explicit re-exports, no logic."""

from penstock.data.lookup_mutable import MutableDenseHashTable as DenseHashTable

__all__ = ["DenseHashTable"]
