"""``tf.contrib``: ``__init__.pyi`` names its packages; each is loaded when it is first used."""

from penstock.foundation.base import public_names

__getattr__, __dir__, __all__ = public_names.of_package(
    __name__, page="docs/ops.md", first="penstock.api.from_the_start"
)
