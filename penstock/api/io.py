"""``tf.io``: explicit re-exports, no logic."""

from penstock.api import io_gfile as _gfile
from penstock.foundation.formats.record_file import (
    TFRecordCompressionType as TFRecordCompressionType,
    TFRecordOptions as TFRecordOptions,
    TFRecordWriter as TFRecordWriter,
    tf_record_iterator as tf_record_iterator,
)
from penstock.library.ragged_tensors.dispatched import (
    decode_base64 as decode_base64,
    decode_compressed as decode_compressed,
    encode_base64 as encode_base64,
)
from penstock.ops.data.files import (
    matching_files as matching_files,
    read_file as read_file,
    write_file as write_file,
)
from penstock.ops.data.parsing import (
    decode_csv as decode_csv,
    decode_json_example as decode_json_example,
    decode_raw as decode_raw,
    parse_tensor as parse_tensor,
    serialize_tensor as serialize_tensor,
)
from penstock.ops.data.proto_fields import (
    decode_proto as decode_proto,
    encode_proto as encode_proto,
)
from penstock.ops.image.image_codec import (
    decode_and_crop_jpeg as decode_and_crop_jpeg,
    decode_bmp as decode_bmp,
    decode_gif as decode_gif,
    decode_image as decode_image,
    decode_jpeg as decode_jpeg,
    decode_png as decode_png,
    encode_jpeg as encode_jpeg,
    extract_jpeg_shape as extract_jpeg_shape,
    is_jpeg as is_jpeg,
)
from penstock.ops.sparse.sparse_functions import (
    deserialize_many_sparse as deserialize_many_sparse,
    serialize_many_sparse as serialize_many_sparse,
    serialize_sparse as serialize_sparse,
)
from penstock.storage.export.graph_file import write_graph as write_graph
from penstock.training.data.features import (
    FixedLenFeature as FixedLenFeature,
    FixedLenSequenceFeature as FixedLenSequenceFeature,
    SparseFeature as SparseFeature,
    VarLenFeature as VarLenFeature,
    parse_example as parse_example,
    parse_sequence_example as parse_sequence_example,
    parse_single_example as parse_single_example,
    parse_single_sequence_example as parse_single_sequence_example,
)
from penstock.training.data.input import match_filenames_once as match_filenames_once
from penstock.training.data.queues import (
    PaddingFIFOQueue as PaddingFIFOQueue,
    PriorityQueue as PriorityQueue,
    QueueBase as QueueBase,
    RandomShuffleQueue as RandomShuffleQueue,
)

gfile = _gfile
