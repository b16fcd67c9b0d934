"""``tf.io``: explicit re-exports, no logic."""

from penstock.api import io_gfile as gfile
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
)

__all__ = [
    "TFRecordCompressionType",
    "TFRecordOptions",
    "TFRecordWriter",
    "decode_and_crop_jpeg",
    "decode_bmp",
    "decode_gif",
    "decode_image",
    "decode_jpeg",
    "decode_png",
    "encode_jpeg",
    "extract_jpeg_shape",
    "gfile",
    "matching_files",
    "read_file",
    "tf_record_iterator",
    "write_file",
    "write_graph",
]
