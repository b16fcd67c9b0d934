"""``tf.strings``: explicit re-exports, no logic."""

from penstock.ops.debug import string_format as format
from penstock.ops.string_reduce import unsorted_segment_join
from penstock.ops.string_text import string_lower as lower
from penstock.ops.string_text import string_upper as upper
from penstock.ops.string_unicode import unicode_transcode
from penstock.ragged_tensors.dispatched import (
    as_string,
    reduce_join,
    regex_full_match,
    regex_replace,
    substr,
    unicode_script,
)
from penstock.ragged_tensors.dispatched import string_join as join
from penstock.ragged_tensors.dispatched import string_length as length
from penstock.ragged_tensors.dispatched import string_strip as strip
from penstock.ragged_tensors.dispatched import string_to_hash_bucket as to_hash_bucket
from penstock.ragged_tensors.dispatched import string_to_hash_bucket_fast as to_hash_bucket_fast
from penstock.ragged_tensors.dispatched import string_to_hash_bucket_strong as to_hash_bucket_strong
from penstock.ragged_tensors.dispatched import string_to_number as to_number
from penstock.ragged_tensors.ngrams import ngrams
from penstock.ragged_tensors.strings import (
    bytes_split,
    split,
    unicode_decode,
    unicode_decode_with_offsets,
    unicode_encode,
    unicode_split,
    unicode_split_with_offsets,
)

__all__ = [
    "as_string", "bytes_split", "format", "join", "length", "lower", "ngrams", "reduce_join",
    "regex_full_match", "regex_replace", "split", "strip", "substr", "to_hash_bucket",
    "to_hash_bucket_fast", "to_hash_bucket_strong", "to_number", "unicode_decode",
    "unicode_decode_with_offsets", "unicode_encode", "unicode_script", "unicode_split",
    "unicode_split_with_offsets", "unicode_transcode", "unsorted_segment_join", "upper",
]  # fmt: skip
