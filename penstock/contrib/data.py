"""``tf.contrib.data``: older names of ``tf.data.experimental``; explicit re-exports, no logic."""

from penstock.data.dataset_readers import CsvDataset
from penstock.data.interleaving import parallel_interleave
from penstock.data.older import (
    batch_and_drop_remainder,
    bucket_by_sequence_length,
    padded_batch_and_drop_remainder,
    sloppy_interleave,
)
from penstock.data.transformations import (
    AUTOTUNE,
    Counter,
    RandomDataset,
    Reducer,
    choose_from_datasets,
    enumerate_dataset,
    get_single_element,
    group_by_reducer,
    group_by_window,
    ignore_errors,
    make_saveable_from_iterator,
    map_and_batch,
    sample_from_datasets,
    scan,
    shuffle_and_repeat,
    unbatch,
    unique,
)

__all__ = [
    "AUTOTUNE",
    "Counter",
    "CsvDataset",
    "RandomDataset",
    "Reducer",
    "batch_and_drop_remainder",
    "bucket_by_sequence_length",
    "choose_from_datasets",
    "enumerate_dataset",
    "get_single_element",
    "group_by_reducer",
    "group_by_window",
    "ignore_errors",
    "make_saveable_from_iterator",
    "map_and_batch",
    "padded_batch_and_drop_remainder",
    "parallel_interleave",
    "sample_from_datasets",
    "scan",
    "shuffle_and_repeat",
    "sloppy_interleave",
    "unbatch",
    "unique",
]
