"""``tf.strings``: explicit re-exports, no logic."""

from penstock.ops.debug import string_format as format
from penstock.ops.parsing import string_to_number as to_number
from penstock.ops.string_hash import string_to_hash_bucket as to_hash_bucket
from penstock.ops.string_hash import string_to_hash_bucket_fast as to_hash_bucket_fast
from penstock.ops.string_hash import string_to_hash_bucket_strong as to_hash_bucket_strong
from penstock.ops.string_join import string_join as join
from penstock.ops.string_reduce import reduce_join, unsorted_segment_join
from penstock.ops.string_regex import regex_full_match, regex_replace
from penstock.ops.string_split import strings_split as split
from penstock.ops.string_text import as_string, substr
from penstock.ops.string_text import string_length as length
from penstock.ops.string_text import string_lower as lower
from penstock.ops.string_text import string_strip as strip
from penstock.ops.string_text import string_upper as upper
from penstock.ops.string_unicode import unicode_script, unicode_transcode

__all__ = [
    "as_string", "format", "join", "length", "lower", "reduce_join", "regex_full_match",
    "regex_replace", "split", "strip", "substr", "to_hash_bucket", "to_hash_bucket_fast",
    "to_hash_bucket_strong", "to_number", "unicode_script", "unicode_transcode",
    "unsorted_segment_join", "upper",
]  # fmt: skip
