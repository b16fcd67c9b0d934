"""``tf.contrib.slim``: what ``contrib.framework`` and ``contrib.layers`` have, in one place, with
training (``learning``, ``queues``), ``evaluation``, data sets (``data``), what a model holds
(``model_analyzer``), and published networks (``nets``).

``__init__.pyi`` says each name once; it is loaded when it is used.
"""

from penstock.foundation.base import public_names

__getattr__, __dir__, __all__ = public_names.of_package(
    __name__, page="docs/ops.md", first="penstock.api.from_the_start"
)
