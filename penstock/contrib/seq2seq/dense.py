"""What serves as a layer of an attention mechanism or decoder."""

from __future__ import annotations

from typing import Any

from penstock.library.layers.basic import Dense as Dense


def is_layer(given: Any) -> bool:
    """Whether ``given`` can serve as a layer."""
    return callable(given) and hasattr(given, "compute_output_shape")
