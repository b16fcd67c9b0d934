"""``tf.strings``: explicit re-exports, no logic."""

from penstock.ops.debug import string_format as _format
from penstock.ops.parsing import string_to_number as _to_number
from penstock.ops.string_hash import (
    string_to_hash_bucket as _to_hash_bucket,
    string_to_hash_bucket_fast as _to_hash_bucket_fast,
    string_to_hash_bucket_strong as _to_hash_bucket_strong,
)
from penstock.ops.string_join import string_join as _join
from penstock.ops.string_reduce import (
    reduce_join as reduce_join,
    unsorted_segment_join as unsorted_segment_join,
)
from penstock.ops.string_regex import (
    regex_full_match as regex_full_match,
    regex_replace as regex_replace,
)
from penstock.ops.string_split import strings_split as _split
from penstock.ops.string_text import (
    as_string as as_string,
    string_length as _length,
    string_lower as _lower,
    string_strip as _strip,
    string_upper as _upper,
    substr as substr,
)
from penstock.ops.string_unicode import (
    unicode_script as unicode_script,
    unicode_transcode as unicode_transcode,
)

format = _format
join = _join
length = _length
lower = _lower
split = _split
strip = _strip
to_hash_bucket = _to_hash_bucket
to_hash_bucket_fast = _to_hash_bucket_fast
to_hash_bucket_strong = _to_hash_bucket_strong
to_number = _to_number
upper = _upper
