"""``tf.io``: explicit re-exports, no logic."""

from penstock.api import io_gfile as gfile
from penstock.data.features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    SparseFeature,
    VarLenFeature,
    parse_example,
    parse_sequence_example,
    parse_single_example,
    parse_single_sequence_example,
)
from penstock.data.input import match_filenames_once
from penstock.data.queues import PaddingFIFOQueue, PriorityQueue, QueueBase, RandomShuffleQueue
from penstock.export.graph_file import write_graph
from penstock.formats.record_file import (
    TFRecordCompressionType,
    TFRecordOptions,
    TFRecordWriter,
    tf_record_iterator,
)
from penstock.ops.files import matching_files, read_file, write_file
from penstock.ops.image_codec import (
    decode_and_crop_jpeg,
    decode_bmp,
    decode_gif,
    decode_image,
    decode_jpeg,
    decode_png,
    encode_jpeg,
    extract_jpeg_shape,
    is_jpeg,
)
from penstock.ops.parsing import (
    decode_csv,
    decode_json_example,
    decode_raw,
    parse_tensor,
    serialize_tensor,
)
from penstock.ops.proto_fields import decode_proto, encode_proto
from penstock.ops.sparse_functions import (
    deserialize_many_sparse,
    serialize_many_sparse,
    serialize_sparse,
)
from penstock.ragged_tensors.dispatched import decode_base64, decode_compressed, encode_base64

__all__ = [
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "PaddingFIFOQueue",
    "PriorityQueue",
    "QueueBase",
    "RandomShuffleQueue",
    "SparseFeature",
    "TFRecordCompressionType",
    "TFRecordOptions",
    "TFRecordWriter",
    "VarLenFeature",
    "decode_and_crop_jpeg",
    "decode_base64",
    "decode_bmp",
    "decode_compressed",
    "decode_csv",
    "decode_gif",
    "decode_image",
    "decode_jpeg",
    "decode_json_example",
    "decode_png",
    "decode_proto",
    "decode_raw",
    "deserialize_many_sparse",
    "encode_base64",
    "encode_jpeg",
    "encode_proto",
    "extract_jpeg_shape",
    "gfile",
    "is_jpeg",
    "match_filenames_once",
    "matching_files",
    "parse_example",
    "parse_sequence_example",
    "parse_single_example",
    "parse_single_sequence_example",
    "parse_tensor",
    "read_file",
    "serialize_many_sparse",
    "serialize_sparse",
    "serialize_tensor",
    "tf_record_iterator",
    "write_file",
    "write_graph",
]
