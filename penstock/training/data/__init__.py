"""``tf.data``: input pipelines, re-exported; queues, readers and their kin live here, too."""

from penstock.training.data import experimental as experimental
from penstock.training.data.dataset import Dataset as Dataset, DatasetSpec as DatasetSpec
from penstock.training.data.dataset_readers import (
    FixedLengthRecordDataset as FixedLengthRecordDataset,
    TextLineDataset as TextLineDataset,
    TFRecordDataset as TFRecordDataset,
)
from penstock.training.data.iterator import Iterator as Iterator
from penstock.training.data.legacy import (
    get_output_classes as get_output_classes,
    get_output_shapes as get_output_shapes,
    get_output_types as get_output_types,
    make_initializable_iterator as make_initializable_iterator,
    make_one_shot_iterator as make_one_shot_iterator,
)
from penstock.training.data.options import Options as Options
