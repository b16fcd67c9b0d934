"""``tf.python_io``: TFRecord files; explicit re-exports, no logic."""

from penstock.foundation.formats.record_file import (
    TFRecordCompressionType as TFRecordCompressionType,
    TFRecordOptions as TFRecordOptions,
    TFRecordWriter as TFRecordWriter,
    tf_record_iterator as tf_record_iterator,
)
