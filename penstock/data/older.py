"""Transformations that only ``tf.contrib.data`` had."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.data import transformations
from penstock.data.dataset import Dataset
from penstock.data.interleaving import parallel_interleave

Transformation = Callable[[Dataset], Dataset]


def batch_and_drop_remainder(batch_size: Any) -> Transformation:
    """``Dataset.batch`` without a smaller last batch."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(
    batch_size: Any, padded_shapes: Any, padding_values: Any = None
) -> Transformation:
    """``Dataset.padded_batch`` without a smaller last batch."""
    return lambda dataset: dataset.padded_batch(batch_size, padded_shapes, padding_values, True)


def sloppy_interleave(
    map_func: Callable[..., Any], cycle_length: Any, block_length: Any = 1
) -> Transformation:
    """``parallel_interleave`` in any order; here the order is the same one always."""
    return parallel_interleave(map_func, cycle_length, block_length, sloppy=True)


def bucket_by_sequence_length(
    element_length_func: Callable[..., Any], bucket_boundaries: Sequence[int],
    bucket_batch_sizes: Sequence[int], padded_shapes: Any = None, padding_values: Any = None,
    pad_to_bucket_boundary: bool = False, no_padding: bool = False,
) -> Transformation:  # fmt: skip
    """``tf.data.experimental.bucket_by_sequence_length``, which has one argument more."""
    return transformations.bucket_by_sequence_length(
        element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes, padding_values,
        pad_to_bucket_boundary, no_padding,
    )  # fmt: skip
