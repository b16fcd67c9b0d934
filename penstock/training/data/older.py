"""Transformations that only ``tf.contrib.data`` had."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.training.data import csv_files, transformations
from penstock.training.data.dataset import Dataset
from penstock.training.data.interleaving import parallel_interleave

Transformation = Callable[[Dataset], Dataset]


def batch_and_drop_remainder(batch_size: Any) -> Transformation:
    """``Dataset.batch`` without a smaller last batch."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(
    batch_size: Any, padded_shapes: Any, padding_values: Any = None
) -> Transformation:
    """``Dataset.padded_batch`` without a smaller last batch."""
    return lambda dataset: dataset.padded_batch(batch_size, padded_shapes, padding_values, True)


def make_csv_dataset(
    file_pattern: Any, batch_size: Any, column_names: Any = None, column_defaults: Any = None,
    label_name: str | None = None, select_columns: Any = None, field_delim: str = ",",
    use_quote_delim: bool = True, na_value: str = "", header: bool = True, num_epochs: Any = None,
    shuffle: bool = True, shuffle_buffer_size: Any = 10000, shuffle_seed: Any = None,
    prefetch_buffer_size: Any = None, num_parallel_reads: Any = None, sloppy: bool = False,
    num_rows_for_inference: int | None = 100, compression_type: Any = None,
) -> Dataset:  # fmt: skip
    """``tf.data.experimental.make_csv_dataset``, which has one argument more."""
    return csv_files.make_csv_dataset(
        file_pattern, batch_size, column_names, column_defaults, label_name, select_columns,
        field_delim, use_quote_delim, na_value, header, num_epochs, shuffle, shuffle_buffer_size,
        shuffle_seed, prefetch_buffer_size, num_parallel_reads, sloppy, num_rows_for_inference,
        compression_type,
    )  # fmt: skip


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
