"""``tf.strings``: explicit re-exports, no logic."""

from penstock.library.ragged_tensors.dispatched import (
    as_string as as_string,
    reduce_join as reduce_join,
    regex_full_match as regex_full_match,
    regex_replace as regex_replace,
    string_join as _join,
    string_length as _length,
    string_strip as _strip,
    string_to_hash_bucket as _to_hash_bucket,
    string_to_hash_bucket_fast as _to_hash_bucket_fast,
    string_to_hash_bucket_strong as _to_hash_bucket_strong,
    string_to_number as _to_number,
    substr as substr,
    unicode_script as unicode_script,
)
from penstock.library.ragged_tensors.ngrams import ngrams as ngrams
from penstock.library.ragged_tensors.strings import (
    bytes_split as bytes_split,
    split as split,
    unicode_decode as unicode_decode,
    unicode_decode_with_offsets as unicode_decode_with_offsets,
    unicode_encode as unicode_encode,
    unicode_split as unicode_split,
    unicode_split_with_offsets as unicode_split_with_offsets,
)
from penstock.ops.control.debug import string_format as _format
from penstock.ops.strings.string_reduce import unsorted_segment_join as unsorted_segment_join
from penstock.ops.strings.string_text import string_lower as _lower, string_upper as _upper
from penstock.ops.strings.string_unicode import unicode_transcode as unicode_transcode

format = _format
join = _join
length = _length
lower = _lower
strip = _strip
to_hash_bucket = _to_hash_bucket
to_hash_bucket_fast = _to_hash_bucket_fast
to_hash_bucket_strong = _to_hash_bucket_strong
to_number = _to_number
upper = _upper
