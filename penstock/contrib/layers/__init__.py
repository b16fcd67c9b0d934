"""``tf.contrib.layers``: functions that make layers with model variables, by ``arg_scope``.

Each calls the layer of ``tf.layers`` in a variable scope whose getter renames the variables and
makes them model variables (``model_variables``).  ``dense``, ``convolutions``, ``separable``,
``pooling``, ``batch_normalization``, ``normalization``, ``shaping``, ``composing`` and
``embeddings`` have the layers; ``initializers``, ``regularizers``, ``summaries`` and ``optimizers``
what goes with them; ``plumbing`` names outputs in collections.

``__init__.pyi`` says each name once; it is loaded when it is used.
"""

from penstock.foundation.base import public_names

__getattr__, __dir__, __all__ = public_names.of_package(
    __name__, page="docs/ops.md", first="penstock.api.from_the_start"
)
