"""Module paths of TensorFlow that programs import directly: explicit re-exports, no logic."""

from penstock.foundation.base import public_names

__getattr__, __dir__, __all__ = public_names.of_package(
    __name__, page="docs/ops.md", first="penstock.api.from_the_start"
)
