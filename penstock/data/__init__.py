"""``tf.data``: input pipelines, re-exported; queues, readers and their kin live here, too."""

from penstock.data import experimental
from penstock.data.dataset import Dataset, DatasetSpec
from penstock.data.dataset_readers import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset
from penstock.data.iterator import Iterator
from penstock.data.legacy import (
    get_output_classes,
    get_output_shapes,
    get_output_types,
    make_initializable_iterator,
    make_one_shot_iterator,
)
from penstock.data.options import Options

__all__ = [
    "Dataset",
    "DatasetSpec",
    "FixedLengthRecordDataset",
    "Iterator",
    "Options",
    "TFRecordDataset",
    "TextLineDataset",
    "experimental",
    "get_output_classes",
    "get_output_shapes",
    "get_output_types",
    "make_initializable_iterator",
    "make_one_shot_iterator",
]
