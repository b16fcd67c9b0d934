"""``tf.data.experimental`` (and what ``tf.contrib.data`` had); explicit re-exports, no logic."""

from penstock.training.data.csv_files import make_csv_dataset as make_csv_dataset
from penstock.training.data.dataset import DatasetSpec as _DatasetStructure
from penstock.training.data.dataset_readers import (
    CsvDataset as CsvDataset,
    SqlDataset as SqlDataset,
    TFRecordWriter as TFRecordWriter,
)
from penstock.training.data.examples import (
    copy_to_device as copy_to_device,
    dense_to_sparse_batch as dense_to_sparse_batch,
    make_batched_features_dataset as make_batched_features_dataset,
    parse_example_dataset as parse_example_dataset,
    prefetch_to_device as prefetch_to_device,
)
from penstock.training.data.interleaving import parallel_interleave as parallel_interleave
from penstock.training.data.legacy import (
    SparseTensorStructure as SparseTensorStructure,
    TensorStructure as TensorStructure,
)
from penstock.training.data.optional import (
    Optional as Optional,
    OptionalStructure as OptionalStructure,
    get_next_as_optional as get_next_as_optional,
)
from penstock.training.data.options import (
    DistributeOptions as DistributeOptions,
    MapVectorizationOptions as MapVectorizationOptions,
    OptimizationOptions as OptimizationOptions,
    StatsOptions as StatsOptions,
    ThreadingOptions as ThreadingOptions,
)
from penstock.training.data.resampling import rejection_resample as rejection_resample
from penstock.training.data.stats import (
    StatsAggregator as StatsAggregator,
    bytes_produced_stats as bytes_produced_stats,
    latency_stats as latency_stats,
)
from penstock.training.data.transformations import (
    AUTOTUNE as AUTOTUNE,
    INFINITE_CARDINALITY as INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY,
    Counter as Counter,
    RandomDataset as RandomDataset,
    Reducer as Reducer,
    bucket_by_sequence_length as bucket_by_sequence_length,
    cardinality as cardinality,
    choose_from_datasets as choose_from_datasets,
    enumerate_dataset as enumerate_dataset,
    from_variant as from_variant,
    get_single_element as get_single_element,
    get_structure as get_structure,
    group_by_reducer as group_by_reducer,
    group_by_window as group_by_window,
    ignore_errors as ignore_errors,
    make_saveable_from_iterator as make_saveable_from_iterator,
    map_and_batch as map_and_batch,
    map_and_batch_with_legacy_function as map_and_batch_with_legacy_function,
    sample_from_datasets as sample_from_datasets,
    scan as scan,
    shuffle_and_repeat as shuffle_and_repeat,
    take_while as take_while,
    to_variant as to_variant,
    unbatch as unbatch,
    unique as unique,
)

DatasetStructure = _DatasetStructure
