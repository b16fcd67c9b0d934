"""``tf.compat``: strings of Python 2 and 3, dates of compatibility, and the API as a module."""

import penstock as v1
from penstock.base.shapes import dimension_at_index, dimension_value
from penstock.platform.forward import forward_compatibility_horizon, forward_compatible
from penstock.platform.text import (
    as_bytes,
    as_str,
    as_str_any,
    as_text,
    bytes_or_text_types,
    complex_types,
    integral_types,
    path_to_str,
    real_types,
)

__all__ = [
    "as_bytes",
    "as_str",
    "as_str_any",
    "as_text",
    "bytes_or_text_types",
    "complex_types",
    "dimension_at_index",
    "dimension_value",
    "forward_compatibility_horizon",
    "forward_compatible",
    "integral_types",
    "path_to_str",
    "real_types",
    "v1",
]
