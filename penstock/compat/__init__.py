"""``tf.compat``: strings of Python 2 and 3, dates of compatibility, and the API as a module."""

from importlib import import_module
from typing import Any

import penstock
from penstock.foundation.base.dimension import dimension_value as dimension_value
from penstock.foundation.base.missing import missing_attribute
from penstock.foundation.base.shapes import dimension_at_index as dimension_at_index
from penstock.tools.platform.forward import (
    forward_compatibility_horizon as forward_compatibility_horizon,
    forward_compatible as forward_compatible,
)
from penstock.tools.platform.text import (
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


def __getattr__(name: str) -> Any:
    if name == "v2":  # long tables that few programs need
        return import_module(f"{__name__}.v2")
    raise missing_attribute(f"module {__name__!r} has no attribute {name!r}")
