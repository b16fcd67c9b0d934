"""``tf.compat``: strings of Python 2 and 3, dates of compatibility, and the API as a module."""

import penstock
from penstock.base.shapes import (
    dimension_at_index as dimension_at_index,
    dimension_value as dimension_value,
)
from penstock.platform.forward import (
    forward_compatibility_horizon as forward_compatibility_horizon,
    forward_compatible as forward_compatible,
)
from penstock.platform.text import (
    as_bytes as as_bytes,
    as_str as as_str,
    as_str_any as as_str_any,
    as_text as as_text,
    bytes_or_text_types as bytes_or_text_types,
    complex_types as complex_types,
    integral_types as integral_types,
    path_to_str as path_to_str,
    real_types as real_types,
)

v1 = penstock
