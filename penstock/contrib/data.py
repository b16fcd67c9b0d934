"""``tf.contrib.data``: older names of ``tf.data.experimental``; explicit re-exports, no logic."""

from penstock.foundation.base import public_names
from penstock.training.data.dataset import Dataset as Dataset
from penstock.training.data.dataset_readers import (
    CsvDataset as CsvDataset,
    LMDBDataset as LMDBDataset,
    SqlDataset as SqlDataset,
    TextLineDataset as TextLineDataset,
    TFRecordDataset as TFRecordDataset,
    TFRecordWriter as TFRecordWriter,
)
from penstock.training.data.examples import (
    assert_element_shape as assert_element_shape,
    copy_to_device as copy_to_device,
    dense_to_sparse_batch as dense_to_sparse_batch,
    make_batched_features_dataset as make_batched_features_dataset,
    parse_example_dataset as parse_example_dataset,
    prefetch_to_device as prefetch_to_device,
    read_batch_features as read_batch_features,
    reduce_dataset as reduce_dataset,
    sliding_window_batch as sliding_window_batch,
)
from penstock.training.data.interleaving import parallel_interleave as parallel_interleave
from penstock.training.data.older import (
    batch_and_drop_remainder as batch_and_drop_remainder,
    bucket_by_sequence_length as bucket_by_sequence_length,
    make_csv_dataset as make_csv_dataset,
    padded_batch_and_drop_remainder as padded_batch_and_drop_remainder,
    sloppy_interleave as sloppy_interleave,
)
from penstock.training.data.optional import (
    Optional as Optional,
    get_next_as_optional as get_next_as_optional,
)
from penstock.training.data.resampling import rejection_resample as rejection_resample
from penstock.training.data.transformations import (
    AUTOTUNE as AUTOTUNE,
    Counter as Counter,
    RandomDataset as RandomDataset,
    Reducer as Reducer,
    choose_from_datasets as choose_from_datasets,
    enumerate_dataset as enumerate_dataset,
    get_single_element as get_single_element,
    group_by_reducer as group_by_reducer,
    group_by_window as group_by_window,
    ignore_errors as ignore_errors,
    make_saveable_from_iterator as make_saveable_from_iterator,
    map_and_batch as map_and_batch,
    sample_from_datasets as sample_from_datasets,
    scan as scan,
    shuffle_and_repeat as shuffle_and_repeat,
    unbatch as unbatch,
    unique as unique,
)
from penstock.training.monitored.input_checkpoints import (
    CheckpointInputPipelineHook as CheckpointInputPipelineHook,
)

__dir__ = public_names.listing(__name__)
