"""``tf.strings``: explicit re-exports, no logic."""

from penstock.ops.debug import string_format as format
from penstock.ops.string_join import regex_full_match
from penstock.ops.string_join import string_join as join

__all__ = ["format", "join", "regex_full_match"]
